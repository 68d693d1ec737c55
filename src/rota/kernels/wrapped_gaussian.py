"""Wrapped Gaussian profile: a routine with a width."""

from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.kernels.base import Admissible
from rota.spectra.lattice import Lattice
from rota.types import Duration, Float64Array
from rota.units import Lag, lag_seconds, seconds

_REACH = 9.0  # standard deviations; exp(-9^2/2) is below float64's resolution of 1
_NARROWEST = 1e-5  # of the period
_MOST = int(np.ceil(_REACH / (2 * np.pi * _NARROWEST)))


@dataclass(frozen=True)
class WrappedGaussian(Admissible):
    """Gaussians of one width at every multiple of a period, summed and scaled to ``f(0) = 1``.

    It is what the paper's Eq. 18 realises exactly. The paper's own periodic Gaussian (Eq. 17) repeats one
    Gaussian cut at half a period, and the kink there keeps it from being positive definite at any width.

    Attributes:
        period: ``"24h"``, seconds or a ``timedelta``; kept as seconds.
        width: Standard deviation of one peak, likewise.
    """

    period: Duration
    width: Duration

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", seconds(self.period))
        object.__setattr__(self, "width", seconds(self.width))

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape.

        Narrow peaks are summed over their images, wide ones over their harmonics: each where it converges.
        """
        lags = lag_seconds(lag)
        ratio = seconds(self.width) / seconds(self.period)
        if ratio > 0.4:
            return np.asarray(self.spectrum().characteristic(lags).real)
        turn = np.mod(lags, seconds(self.period)) / seconds(self.period)
        reach = int(np.ceil(_REACH * ratio)) + 1
        images = np.arange(-reach, reach + 1)
        peaks = np.exp(-0.5 * ((turn[..., None] + images) / ratio) ** 2).sum(-1)
        return np.asarray(peaks / np.exp(-0.5 * (images / ratio) ** 2).sum())

    def spectrum(self) -> Lattice:
        """Law with mass proportional to ``exp(-k^2 / (2 sigma*^2))``, ``sigma* = T / (2 pi sigma)`` (Eq. 18).

        Harmonics are kept as far as float64 can tell their mass from zero.

        Raises:
            InputError: The width is under 1e-5 of the period, which is a million harmonics and no routine.
        """
        sigma_star = seconds(self.period) / (2 * np.pi * seconds(self.width))
        highest = int(np.ceil(_REACH * sigma_star))
        if highest > _MOST:
            raise InputError(
                f"{self} has {highest:,} harmonics: expected a width of at least {_NARROWEST:g} of the period"
            )
        harmonics = np.arange(-highest, highest + 1)
        weights = np.exp(-0.5 * (harmonics / sigma_star) ** 2)
        return Lattice(seconds(self.period), harmonics, weights / weights.sum(), sigma_star=sigma_star)
