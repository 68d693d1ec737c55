"""Triangle profile: nothing at all beyond its width."""

from dataclasses import dataclass

import numpy as np
from scipy.special import sici, xlog1py, xlogy

from rota.kernels.base import Admissible
from rota.spectra.density import Density
from rota.spectra.roots import SurvivalInverse
from rota.types import Duration, Float64Array
from rota.units import Lag, lag_seconds, seconds

_FAR = 40.0  # radians from which the tail is summed by its series about infinity
_TERMS = 18  # of it: (2k + 2)! / 40^(2k + 2) is least about there, 1e-16 of the first


@dataclass(frozen=True)
class Triangle(Admissible):
    """``f(lag) = max(0, 1 - |lag| / width)``: compact support.

    Attributes:
        width: Where it reaches 0: ``"24h"``, seconds or a ``timedelta``; kept as seconds.
    """

    width: Duration

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", seconds(self.width))

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        return np.asarray(np.maximum(0.0, 1 - np.abs(lag_seconds(lag)) / seconds(self.width)))

    def spectrum(self) -> Density:
        """Fejer's law: the density ``width sinc(width xi)^2``.

        It has no standard deviation; its scale is its first zero, ``1 / width``.
        """
        scale = 1 / seconds(self.width)
        return Density(_SquaredSinc(scale), self, scale, self._conjugate)

    def _conjugate(self, lag: Float64Array) -> Float64Array:
        """``((x + 1) ln(x + 1) - 2 x ln x + (x - 1) ln|x - 1|) / pi`` for ``x = lag / width > 0``; odd."""
        size = np.abs(lag) / seconds(self.width)
        small = np.minimum(size, 1 / np.maximum(size, 1))  # x or 1 / x: in [0, 1]
        upper, lower = xlog1py(1 + small, small), xlog1py(1 - small, -small)
        within = upper - lower - 2 * xlogy(small, small)
        less = np.minimum(small, 0.5)  # below, upper + lower would cancel
        both = np.where(small < 0.5, 2 * less * np.arctanh(less) + np.log1p(-(less**2)), upper + lower)
        return np.asarray(np.sign(lag) / np.pi * np.where(size <= 1, within, size * both))


@dataclass(frozen=True)
class _SquaredSinc:
    """Density ``sinc(x / scale)^2 / scale``, sinc with its zeros at the integers."""

    scale: float

    def pdf(self, x: Float64Array) -> Float64Array:
        return np.asarray(np.sinc(x / self.scale) ** 2 / self.scale)

    def cdf(self, x: Float64Array) -> Float64Array:
        tail = _tail(np.asarray(np.abs(x) / self.scale)) / 2
        return np.asarray(np.where(np.asarray(x) > 0, 1 - tail, tail))

    def ppf(self, q: Float64Array) -> Float64Array:
        return np.asarray(-self.scale * _INVERSE(np.asarray(2 * q)))


def _tail(zeros: Float64Array) -> Float64Array:
    """Probability of an absolute frequency above so many times the first zero.

    ``2 / pi (sin(a)^2 / a + pi / 2 - Si(2a))`` with ``a = pi zeros``; far out, where that would lose its
    digits, ``pi / 2 - Si(z) = f(z) cos z + g(z) sin z``, of f ~ 1 / z and g (DLMF 6.12).
    """
    z = np.asarray(2 * np.pi * zeros)
    near = np.clip(z, np.finfo(np.float64).tiny, _FAR)
    tail = np.asarray(2 * np.sin(near / 2) ** 2 / near + np.pi / 2 - sici(near)[0])
    far = z > _FAR
    tail[far] = _far_tail(z[far], 2 * np.pi * np.mod(zeros[far], 1.0))
    return np.asarray(2 / np.pi * tail)


def _far_tail(z: Float64Array, angle: Float64Array) -> Float64Array:
    """``1 / z + (f - 1 / z) cos(angle) + g sin(angle)``; angle is z less whole turns; shape ``(n,)``."""
    total, term = 1 / z, 1 / z  # term: n! / z^(n + 1)
    for n in range(1, 2 * _TERMS, 2):
        sign = 1 if n % 4 == 1 else -1
        term = term * n / z
        total = total + sign * term * np.sin(angle)
        term = term * (n + 1) / z
        total = total - sign * term * np.cos(angle)
    return total


_INVERSE = SurvivalInverse(_tail, lambda zeros: np.asarray(2 * np.sinc(zeros) ** 2), 1.0)
