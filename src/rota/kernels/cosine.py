"""Cosine profile: the simplest routine."""

from dataclasses import dataclass

import numpy as np

from rota.kernels.base import Admissible
from rota.spectra.lattice import Lattice
from rota.types import Duration, Float64Array
from rota.units import Lag, lag_seconds, seconds


@dataclass(frozen=True)
class Cosine(Admissible):
    """``f(lag) = cos(2 pi lag / period)`` (ClockRoPE, Eq. 15); it turns negative half a period away.

    Attributes:
        period: ``"24h"``, seconds or a ``timedelta``; kept as seconds.
    """

    period: Duration

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", seconds(self.period))

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        period = seconds(self.period)
        return np.asarray(np.cos(2 * np.pi * np.mod(lag_seconds(lag), period) / period))

    def spectrum(self) -> Lattice:
        """Half of the mass on each of the harmonics -1 and 1 (ClockRoPE, Eq. 16)."""
        return Lattice(seconds(self.period), np.array([-1, 1]), np.array([0.5, 0.5]))
