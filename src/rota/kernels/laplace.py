"""Laplace profile: interest that fades by the same share in every hour."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import exp1, expi, shichi

from rota.kernels.base import Admissible
from rota.spectra.density import Density
from rota.types import Duration, Float64Array
from rota.units import Lag, lag_seconds, seconds

__all__ = ["Laplace"]

_NEAR, _FAR = 1.0, 40.0  # where series about 0, exponential integrals, and the series about infinity serve
_TERMS = 20  # of the last: (2k)! / 40^(2k) is least there, 1e-17


@dataclass(frozen=True)
class Laplace(Admissible):
    """``f(lag) = exp(-|lag| / width)``; a kink at 0 and so a heavy tail of frequencies (RFR's Laplace law).

    Attributes:
        width: Time in which it falls to ``1 / e``: ``"24h"``, seconds or a ``timedelta``; kept as seconds.
    """

    width: Duration

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", seconds(self.width))

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        return np.asarray(np.exp(-np.abs(lag_seconds(lag)) / seconds(self.width)))

    def spectrum(self) -> Density:
        """Cauchy's law with the scale ``1 / (2 pi width)`` in cycles per second."""
        scale = 1 / (2 * np.pi * seconds(self.width))
        return Density(_Cauchy(scale), self, scale, self._conjugate)

    def _conjugate(self, lag: Float64Array) -> Float64Array:
        return conjugate_of_decay(np.asarray(lag / seconds(self.width)), [1.0])


@dataclass(frozen=True)
class _Cauchy:
    """Cauchy distribution about 0."""

    scale: float

    def pdf(self, x: Float64Array) -> Float64Array:
        return np.asarray(1 / (np.pi * self.scale * (1 + (x / self.scale) ** 2)))

    def cdf(self, x: Float64Array) -> Float64Array:
        return np.asarray(np.arctan2(self.scale, -x) / np.pi)  # not 1/2 + arctan: the tail keeps its digits

    def ppf(self, q: Float64Array) -> Float64Array:
        return np.asarray(-self.scale / np.tan(np.pi * q))


def conjugate_of_decay(x: Float64Array, coefficients: Sequence[float]) -> Float64Array:
    """Hilbert transform of ``sum_j a_j |x|^j exp(-|x|)``, to absolute 1e-13: odd in ``x``.

    That of ``exp(-|x|)`` is ``C(x) = (exp(-x) Ei(x) + exp(x) E1(x)) / pi``. The profile is what the operator
    ``sum_j a_j (-x)^j (d/dx)^j`` makes of ``exp(-x)``; it sees no scale, so it commutes with the transform,
    and ``C'' = C - 2 / (pi x)``.

    Args:
        x: Lags in widths, any shape.
        coefficients: One to three.
    """
    lags = np.asarray(x, np.float64).reshape(-1)
    size = np.abs(lags)
    a = np.array([*coefficients, 0.0, 0.0])[:3]
    near, middle = np.minimum(size, _NEAR), np.clip(size, _NEAR, _FAR)
    values = np.where(size <= _NEAR, _by_shi_and_chi(near, a), _by_exponentials(middle, a))
    values = np.where(size <= _FAR, values, _by_asymptotes(np.maximum(size, _FAR), a))
    return np.asarray(np.sign(lags) * values).reshape(np.shape(x))


def _by_shi_and_chi(x: Float64Array, a: Float64Array) -> Float64Array:
    """The same near 0, where Ei and E1 would cancel."""
    shi, chi = shichi(np.maximum(x, np.finfo(np.float64).tiny))
    plain = 2 / np.pi * (np.cosh(x) * shi - np.sinh(x) * chi)
    slope = 2 / np.pi * (np.sinh(x) * shi - np.cosh(x) * chi)
    return np.asarray(a[0] * plain - a[1] * x * slope + a[2] * x * (x * plain - 2 / np.pi))


def _by_exponentials(x: Float64Array, a: Float64Array) -> Float64Array:
    falling, rising = np.exp(-x) * expi(x), np.exp(x) * exp1(x)
    even, odd = a[0] + a[2] * x**2, a[1] * x
    return np.asarray(((even + odd) * falling + (even - odd) * rising - 2 * a[2] * x) / np.pi)


def _by_asymptotes(x: Float64Array, a: Float64Array) -> Float64Array:
    """``2 / (pi x)`` times ``sum_k (2k)! / x^2k (a_0 + (2k + 1) a_1 + (2k + 1) (2k + 2) a_2)``."""
    total, term, square = np.zeros(x.shape), np.ones(x.shape), (1 / x) ** 2
    for n in range(0, 2 * _TERMS, 2):
        total += term * (a[0] + (n + 1) * (a[1] + (n + 2) * a[2]))
        term = term * ((n + 1) * (n + 2)) * square
    return np.asarray(2 / np.pi / x * total)
