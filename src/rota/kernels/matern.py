"""Matern profiles: between Laplace's kink and Gaussian's smooth top."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from rota.errors import InputError
from rota.kernels.amounts import plain
from rota.kernels.base import Admissible
from rota.kernels.laplace import Laplace, conjugate_of_decay
from rota.spectra.density import Density
from rota.types import Duration, Float64Array
from rota.units import Lag, lag_seconds, seconds

__all__ = ["Matern"]

# Of the polynomial that stands before exp(-x).
_COEFFICIENTS = {0.5: (1.0,), 1.5: (1.0, 1.0), 2.5: (1.0, 1.0, 1 / 3)}


@dataclass(frozen=True)
class Matern(Admissible):
    """Matern's profile of smoothness ``nu``, in the convention of Gaussian processes.

    With ``x = sqrt(2 nu) |lag| / width`` it is ``exp(-x)`` for 1/2 (Laplace's profile), ``(1 + x) exp(-x)``
    for 3/2, and ``(1 + x + x^2 / 3) exp(-x)`` for 5/2 (Rasmussen and Williams 2006, Eq. 4.14).

    Attributes:
        width: ``"24h"``, seconds or a ``timedelta``; kept as seconds.
        nu: 0.5, 1.5 or 2.5.

    Raises:
        InputError: ``nu`` is another.
    """

    width: Duration
    nu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", seconds(self.width))
        nu = plain(self.nu)
        if nu not in _COEFFICIENTS:
            raise InputError(f"nu {self.nu!r} of a matern profile: expected the number 0.5, 1.5 or 2.5")
        object.__setattr__(self, "nu", nu)

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        x = np.abs(self._in_widths(lag))
        polynomial = np.polynomial.polynomial.polyval(np.minimum(x, 1e3), _COEFFICIENTS[self.nu])
        return np.asarray(polynomial * np.exp(-x))

    def spectrum(self) -> Density:
        """Student's t law with ``2 nu`` degrees of freedom, times ``1 / (2 pi width)`` cycles per second."""
        scale = 1 / (2 * np.pi * seconds(self.width))
        if self.nu == 0.5:  # one degree of freedom is Cauchy's law: no standard deviation
            return Laplace(self.width).spectrum()
        degrees = 2 * self.nu
        deviation = scale * np.sqrt(degrees / (degrees - 2))
        return Density(_Student(degrees, scale), self, float(deviation), self._conjugate)

    def _in_widths(self, lag: Lag) -> Float64Array:
        return np.asarray(np.sqrt(2 * self.nu) * lag_seconds(lag) / seconds(self.width))

    def _conjugate(self, lag: Float64Array) -> Float64Array:
        return conjugate_of_decay(self._in_widths(lag), _COEFFICIENTS[self.nu])


@dataclass(frozen=True)
class _Student:
    """Student's t distribution with 3 or 5 degrees of freedom, times a scale."""

    degrees: float
    scale: float

    def pdf(self, x: Float64Array) -> Float64Array:
        most = {3.0: 2 / (np.pi * np.sqrt(3)), 5.0: 8 / (3 * np.pi * np.sqrt(5))}[self.degrees]
        spread = 1 + (x / self.scale) ** 2 / self.degrees
        return np.asarray(most / self.scale * (1 / spread) ** ((self.degrees + 1) / 2))

    def cdf(self, x: Float64Array) -> Float64Array:
        return np.asarray(stdtr(self.degrees, x / self.scale))

    def ppf(self, q: Float64Array) -> Float64Array:
        return np.asarray(self.scale * stdtrit(self.degrees, q))
