"""Gaussian profile: what happened lately, with a soft edge."""

from dataclasses import dataclass

import numpy as np
from scipy.special import dawsn, ndtr, ndtri

from rota.kernels.base import Admissible
from rota.spectra.density import Density
from rota.types import Duration, Float64Array
from rota.units import Lag, lag_seconds, seconds


@dataclass(frozen=True)
class Gaussian(Admissible):
    """``f(lag) = exp(-lag^2 / (2 width^2))``; not periodic, it dies away (RFR's Gaussian law).

    Attributes:
        width: Standard deviation: ``"24h"``, seconds or a ``timedelta``; kept as seconds.
    """

    width: Duration

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", seconds(self.width))

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        return np.asarray(np.exp(-0.5 * (lag_seconds(lag) / seconds(self.width)) ** 2))

    def spectrum(self) -> Density:
        """Normal law with standard deviation ``1 / (2 pi width)`` cycles per second."""
        scale = 1 / (2 * np.pi * seconds(self.width))
        return Density(_Normal(scale), self, scale, self._conjugate)

    def _conjugate(self, lag: Float64Array) -> Float64Array:
        """``2 / sqrt(pi) D(lag / (sqrt(2) width))``, D Dawson's integral."""
        return np.asarray(2 / np.sqrt(np.pi) * dawsn(lag / (np.sqrt(2) * seconds(self.width))))


@dataclass(frozen=True)
class _Normal:
    """Normal distribution about 0; ``scipy.stats`` has it too, at a hundred times the cost of a call."""

    scale: float

    def pdf(self, x: Float64Array) -> Float64Array:
        return np.asarray(np.exp(-0.5 * (x / self.scale) ** 2) / (np.sqrt(2 * np.pi) * self.scale))

    def cdf(self, x: Float64Array) -> Float64Array:
        return np.asarray(ndtr(x / self.scale))

    def ppf(self, q: Float64Array) -> Float64Array:
        return np.asarray(self.scale * ndtri(q))
