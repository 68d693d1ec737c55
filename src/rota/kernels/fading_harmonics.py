"""Fading harmonics: a profile that dies away, given by its law's density at even steps."""

from dataclasses import dataclass

import numpy as np

from rota.kernels.listed import ListedHarmonics
from rota.spectra.density import Density
from rota.spectra.splines import faded, spline_law
from rota.types import Float64Array
from rota.units import Lag, lag_seconds


@dataclass(frozen=True)
class FadingHarmonics(ListedHarmonics):
    """``f(lag) = sinc(lag / period)^4 sum_j m_j cos(2 pi j lag / period) / sum_j m_j``.

    What `project` makes of a profile that is not periodic: the law's density is a cubic spline with the
    masses as its coefficients. The period is far longer than the profile; nothing recurs after it, as the
    sinc goes to zero there. Written ``fading_harmonics(7d, [0, 1], [0.5, 0.5])``.
    """

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        return faded(np.cos, lag_seconds(lag), *self.arrays())

    def spectrum(self) -> Density:
        """Density with a cubic B-spline of each mass about its frequency; see `spline_law`."""
        return spline_law(*self.arrays())
