"""Convolution: the law of the sum of independent draws, which is what a product of profiles has."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.spectra.atoms import Atoms, gathered_atoms
from rota.spectra.base import Law
from rota.spectra.density import Density, Distribution
from rota.spectra.discrete import Discrete, gathered
from rota.spectra.integrals import averaging_nodes
from rota.spectra.lattice import Lattice
from rota.spectra.merging import on_common_lattice
from rota.spectra.mixture import Mixture
from rota.spectra.roots import where_survival_is
from rota.types import Float64Array

__all__ = ["convolve"]

_MOST = 4_000_000  # atoms of a product before equal ones are gathered: a second's work
_UNSEEN = 1e-17  # mass of an atom that float64 cannot tell from none beside 1
_AT_ONCE = 1_000_000  # values of a distribution at once


def convolve(first: Law, second: Law) -> Law:
    """Law of the sum of a draw from each; symmetric laws, as `Kernel.spectrum` gives them.

    Raises:
        InputError: A law is not symmetric, or the sum of two lattices has millions of atoms.
    """
    for law in (first, second):
        if not law.is_symmetric:
            raise InputError("only symmetric laws are convolved: fold what comes of it instead of the parts")
    for mixed, other in ((first, second), (second, first)):
        if isinstance(mixed, Mixture):
            return Mixture([convolve(part, other) for part in mixed.laws], mixed.weights)
    if isinstance(first, Discrete) and isinstance(second, Discrete):
        return _of_atoms(first, second)
    if isinstance(first, Discrete) and isinstance(second, Density):
        seen = first.masses > _UNSEEN
        return _smooth(first, second, first.frequencies[seen], first.masses[seen])
    if isinstance(first, Density) and isinstance(second, Density) and first.scale <= second.scale:
        # The narrower is averaged over, at nodes that lie close beside the wider one's scale.
        probabilities, weights = averaging_nodes()
        lower = first.distribution.ppf(probabilities)
        nodes, both = np.concatenate([lower, -lower]), np.concatenate([weights, weights])
        return _smooth(first, second, nodes, both)
    return convolve(second, first)


def _of_atoms(first: Discrete, second: Discrete) -> Lattice | Atoms:
    cut, error = _truncations(first, second)
    one, other = first.masses > _UNSEEN, second.masses > _UNSEEN
    if int(one.sum()) * int(other.sum()) > _MOST:
        raise InputError(
            f"a product of profiles with {one.sum():,} and {other.sum():,} harmonics: too many together; "
            "use wider peaks, or a mixture in place of the product"
        )
    masses = np.multiply.outer(first.masses[one], second.masses[other])
    masses /= masses.sum()
    common = on_common_lattice([first, second])
    if common is None:
        sums = np.add.outer(first.frequencies[one], second.frequencies[other])
        return gathered_atoms(sums.ravel(), masses.ravel(), cut, error)
    period, (harmonics, others) = common
    distinct, together = gathered(np.add.outer(harmonics[one], others[other]), masses)
    scale = math.hypot(first.scale, second.scale) * period
    return Lattice(period, distinct, together, cut, scale, error)


def _smooth(first: Law, second: Density, nodes: Float64Array, weights: Float64Array) -> Density:
    cut, error = _truncations(first, second)
    scale = math.hypot(first.scale, second.scale)
    distribution = _Shifted(second.distribution, nodes, weights / weights.sum(), scale)
    profile = _Multiplied(first, second)
    width, last = second.peaks or (second.scale, 0.0)
    if isinstance(first, Discrete):
        last += float(np.abs(nodes).max())
    peaks = (width, last) if last else None
    return Density(distribution, profile, scale, mass_cut=cut, sup_error=error, peaks=peaks)


def _truncations(first: Law, second: Law) -> tuple[float, float]:
    """Mass cut and profile error of a product: each factor is at most 1."""
    cut = 1 - (1 - first.mass_cut) * (1 - second.mass_cut)
    return cut, first.sup_error + second.sup_error


@dataclass(frozen=True, eq=False)
class _Multiplied:
    """Product of two laws' profiles."""

    first: Law
    second: Density

    def __call__(self, lag: Float64Array) -> Float64Array:
        return np.asarray(self.first.characteristic(lag).real * self.second.profile(lag))


@dataclass(frozen=True, eq=False)
class _Shifted:
    """Mean of copies of a distribution, each moved to a node; symmetric when nodes and weights are."""

    whole: Distribution
    nodes: Float64Array
    weights: Float64Array
    scale: float

    def pdf(self, x: Float64Array) -> Float64Array:
        return self._mean(self.whole.pdf, x)

    def cdf(self, x: Float64Array) -> Float64Array:
        return np.asarray(np.minimum(self._mean(self.whole.cdf, x), 1.0))

    def ppf(self, q: Float64Array) -> Float64Array:
        def survival(absolute: Float64Array) -> Float64Array:
            return 2 * self.cdf(np.asarray(-absolute))

        return np.asarray(-where_survival_is(survival, np.asarray(2 * q), self.scale))

    def _mean(self, of: Callable[[Float64Array], Float64Array], x: Float64Array) -> Float64Array:
        points = np.asarray(x, np.float64).ravel()
        values = np.empty(points.shape)
        step = max(1, _AT_ONCE // len(self.nodes))
        for start in range(0, len(points), step):
            some = points[start : start + step]
            values[start : start + step] = of(np.subtract.outer(some, self.nodes)) @ self.weights
        return values.reshape(np.shape(x))
