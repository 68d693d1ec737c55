"""Fading harmonics: a profile that dies away, given by its law's density at even steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rota.kernels.base import Admissible
from rota.kernels.harmonics import checked_harmonics, cosine_sum, shares
from rota.spectra.density import Density
from rota.spectra.splines import spline_law
from rota.types import Duration, Float64Array
from rota.units import Lag, duration_text, lag_seconds, seconds


@dataclass(frozen=True)
class FadingHarmonics(Admissible):
    """``f(lag) = sinc(lag / period)^4 sum_j m_j cos(2 pi j lag / period) / sum_j m_j``.

    What `project` makes of a profile that is not periodic: the law's density is a cubic spline with the
    masses as its coefficients. The period is far longer than the profile; nothing recurs after it, as the
    sinc goes to zero there.

    Attributes:
        period: ``"24h"``, seconds or a ``timedelta``; kept as seconds.
        harmonics: Whole numbers ``j >= 0``, ascending.
        masses: One for each, of ``j`` and ``-j`` together; not negative.

    Raises:
        InputError: Harmonics or masses are not such.
    """

    period: Duration
    harmonics: Sequence[int]
    masses: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", seconds(self.period))
        harmonics, masses = checked_harmonics(self.harmonics, self.masses)
        object.__setattr__(self, "harmonics", harmonics)
        object.__setattr__(self, "masses", masses)

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        period, lags = seconds(self.period), lag_seconds(lag)
        harmonics, masses = shares(self.harmonics, self.masses)
        return np.asarray(np.sinc(lags / period) ** 4 * cosine_sum(lags, period, harmonics, masses))

    def spectrum(self) -> Density:
        """Density with a cubic B-spline of each mass about its frequency; see `spline_law`."""
        return spline_law(seconds(self.period), *shares(self.harmonics, self.masses))

    def __str__(self) -> str:
        """For instance ``fading_harmonics(7d, [0, 1], [0.5, 0.5])``."""
        return (
            f"fading_harmonics({duration_text(seconds(self.period))}, {[*self.harmonics]}, {[*self.masses]})"
        )
