"""Tabulated: a symmetric distribution kept as a table, so that what is costly is computed once."""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from rota.spectra.roots import SurvivalInverse
from rota.types import Float64Array

__all__: list[str] = []

_COARSE, _FURTHEST = 400, 45.0  # steps of asinh x in which the end of the table is looked for
_EVEN, _LAST_EVEN, _FAR = 800, 40.0, 400  # even steps up to so many scales, and steps of asinh x beyond
_UNSEEN = 1e-18  # of a tail: the end of the table


@runtime_checkable
class Smooth(Protocol):
    """A symmetric distribution that costs much to evaluate."""

    def tail(self, x: Float64Array) -> Float64Array:
        """One-sided tail probability of absolute frequencies, 1/2 at 0, shape ``(n,)``."""

    def pdf(self, x: Float64Array) -> Float64Array:
        """Density, shape ``(n,)``."""


@dataclass(frozen=True, eq=False)
class Tabulated:
    """A smooth, symmetric distribution by its tail and its density on a grid.

    The grid is even at first and then in ``asinh(x / scale)``, in which tails that fall are smooth; between
    its points the logarithm of the tail and the density are cubic. The error is about 1e-9, in a tail that
    falls relative to it; of a tail that ripples, as Triangle's does, about 1e-5.

    Attributes:
        whole: What is tabulated.
        scale: Of the frequencies, in cycles per second.
    """

    whole: "Smooth"
    scale: float
    _log_tail: CubicHermiteSpline = field(init=False, repr=False)
    _density: CubicSpline = field(init=False, repr=False)
    _inverse: SurvivalInverse = field(init=False, repr=False)

    def __post_init__(self) -> None:
        coarse = np.linspace(0, _FURTHEST, _COARSE)
        seen = np.flatnonzero(self.whole.tail(self.scale * np.sinh(coarse)) > _UNSEEN)
        end, far = coarse[seen[-1]], np.arcsinh(_LAST_EVEN)
        y = np.arcsinh(np.linspace(0, min(np.sinh(end), _LAST_EVEN), _EVEN))
        if end > far:
            y = np.concatenate([y, np.linspace(far, end, _FAR)[1:]])
        x = self.scale * np.sinh(y)
        tail, pdf = self.whole.tail(x), self.whole.pdf(x)
        slope = -pdf * self.scale * np.cosh(y) / tail
        object.__setattr__(self, "_log_tail", CubicHermiteSpline(y, np.log(tail), slope))
        object.__setattr__(self, "_density", CubicSpline(y, pdf))
        inverse = SurvivalInverse(self._survival, lambda x: 2 * self.pdf(x), self.scale)
        object.__setattr__(self, "_inverse", inverse)

    def pdf(self, x: Float64Array) -> Float64Array:
        y = np.arcsinh(np.abs(x) / self.scale)
        return np.asarray(np.where(y <= self._density.x[-1], np.maximum(self._density(y), 0.0), 0.0))

    def cdf(self, x: Float64Array) -> Float64Array:
        tail = self._tail(x)
        return np.asarray(np.where(np.asarray(x) > 0, 1 - tail, tail))

    def ppf(self, q: Float64Array) -> Float64Array:
        return np.asarray(-self._inverse(np.asarray(2 * q)))

    def _survival(self, x: Float64Array) -> Float64Array:
        return np.asarray(2 * self._tail(x))

    def _tail(self, x: Float64Array) -> Float64Array:
        y = np.arcsinh(np.abs(x) / self.scale)
        last = self._log_tail.x[-1]
        beyond = np.maximum(y - last, 0.0)  # goes on as a power of the frequency
        logarithm = self._log_tail(np.minimum(y, last)) + beyond * float(self._log_tail(last, 1))
        return np.asarray(np.minimum(np.exp(logarithm), 0.5))

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuilt from what it was made of: splines hold nothing that is not there."""
        return type(self), (self.whole, self.scale)
