"""Sum of two independent, symmetric draws with densities: its tail and density by quadrature."""

from dataclasses import dataclass

import numpy as np

from rota.spectra.density import Density
from rota.spectra.integrals import Function
from rota.types import Float64Array

__all__: list[str] = []

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(14)
_GROWTH = 6.0 ** np.arange(-1, 24)  # ends of panels about a hump, in its scale: out to the furthest tails
_AT_ONCE = 200  # frequencies at once: some millions of values


@dataclass(frozen=True, eq=False)
class SumOfTwo:
    """``int p(y) G(x - y) dy``, of one law's density and the other's tail or density.

    Panels grow geometrically away from both humps, from 0 and from ``x``, so that they are fine wherever
    either factor is, whatever the ratio of scales and however heavy the tails.

    Attributes:
        averaged: The law that is integrated over: of the two, one whose density falls without ripples.
        other: The other.
    """

    averaged: Density
    other: Density

    @classmethod
    def of(cls, first: Density, second: Density) -> "SumOfTwo":
        """The sum, integrated over the law for which that is easy."""
        return cls(second, first) if _ripples(first) else cls(first, second)

    def tail(self, x: Float64Array) -> Float64Array:
        """One-sided tail probability of absolute frequencies, shape ``(n,)``."""
        return self._integral(lambda y: _signed_tail(self.other, y), np.abs(x))

    def pdf(self, x: Float64Array) -> Float64Array:
        """Density, shape ``(n,)``."""
        return self._integral(self.other.distribution.pdf, np.abs(x))

    def _integral(self, of: Function, x: Float64Array) -> Float64Array:
        return np.concatenate(
            [self._some(of, x[first : first + _AT_ONCE]) for first in range(0, len(x), _AT_ONCE)]
        )

    def _some(self, of: Function, x: Float64Array) -> Float64Array:
        here = self.averaged.scale * np.concatenate([-_GROWTH[::-1], [0.0], _GROWTH])
        there = self.other.scale * np.concatenate([-_GROWTH[::-1], [0.0], _GROWTH])
        edges = np.concatenate([np.broadcast_to(here, (len(x), len(here))), x[:, None] + there], axis=1)
        edges.sort(axis=1)
        half = (edges[:, 1:] - edges[:, :-1])[..., None] / 2
        y = edges[:, :-1, None] + half * (_NODES + 1)
        values = self.averaged.distribution.pdf(y) * of(x[:, None, None] - y)
        return np.asarray((values * half * _WEIGHTS).sum((1, 2)))


def _signed_tail(law: Density, x: Float64Array) -> Float64Array:
    """Probability of a frequency above ``x``."""
    return np.asarray(law.distribution.cdf(-x))


def _ripples(law: Density) -> bool:
    values = law.distribution.pdf(law.scale * np.linspace(0, 12, 400))
    return bool(np.any(np.diff(values) > 1e-12 * values[0]))
