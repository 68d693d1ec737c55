"""Convolution: the law of the sum of independent draws, which is what a product of profiles has."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rota.errors import InputError
from rota.spectra.atoms import Atoms, gathered_atoms
from rota.spectra.base import Law
from rota.spectra.density import Density, Distribution
from rota.spectra.discrete import Discrete, gathered
from rota.spectra.lattice import Lattice
from rota.spectra.merging import on_common_lattice
from rota.spectra.mixture import Mixture
from rota.spectra.roots import SurvivalInverse
from rota.spectra.sums import SumOfTwo
from rota.spectra.tabulated import Tabulated
from rota.types import Float64Array

__all__ = ["convolve"]

_MOST = 4_000_000  # atoms of a product before equal ones are gathered: a second's work
_UNSEEN = 1e-17  # mass of an atom that float64 cannot tell from none beside 1
_AT_ONCE = 1_000_000  # values of a distribution at once


def convolve(first: Law, second: Law) -> Law:
    """Law of the sum of a draw from each; symmetric laws, as `Kernel.spectrum` gives them.

    However many factors there are, atoms are summed with atoms and densities with densities, so that what
    comes of it is one lattice, one tabulated density, or that density about the lattice's atoms.

    Raises:
        InputError: A law is not symmetric, or the sum of two lattices has millions of atoms.
    """
    for law in (first, second):
        if not law.is_symmetric:
            raise InputError("only symmetric laws are convolved: fold what comes of it instead of the parts")
    for mixed, other in ((first, second), (second, first)):
        if isinstance(mixed, Mixture):
            return Mixture([convolve(part, other) for part in mixed.laws], mixed.weights)
    (atoms, density), (others, another) = _parts(first), _parts(second)
    discrete = _of_atoms(atoms, others) if atoms and others else atoms or others
    smooth = _of_densities(density, another) if density and another else density or another
    if discrete is None or smooth is None:
        return discrete or smooth  # type: ignore[return-value]  # a law has one or the other
    return _about(discrete, smooth)


def _parts(law: Law) -> tuple[Discrete | None, Density | None]:
    """Atoms and density whose draws a law sums."""
    if isinstance(law, Discrete):
        return law, None
    if isinstance(law, Density):
        made = law.made_of
        return (made[0], made[1]) if made is not None else (None, law)  # type: ignore[return-value]
    raise InputError(f"a law of kind {type(law).__name__} cannot be convolved")


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


def _of_densities(first: Density, second: Density) -> Density:
    cut, error = _truncations(first, second)
    scale = math.hypot(first.scale, second.scale)
    table = Tabulated(SumOfTwo.of(first, second), scale)
    return Density(table, _Multiplied(first, second), scale, mass_cut=cut, sup_error=error)


def _about(atoms: Discrete, density: Density) -> Density:
    """Copies of a density about every atom."""
    cut, error = _truncations(atoms, density)
    scale = math.hypot(atoms.scale, density.scale)
    seen = atoms.masses > _UNSEEN
    nodes, weights = atoms.frequencies[seen], atoms.masses[seen]
    moved = _Shifted(density.distribution, nodes, weights / weights.sum(), scale)
    last = float(np.abs(nodes).max())
    return Density(
        moved,
        _Multiplied(atoms, density),
        scale,
        mass_cut=cut,
        sup_error=error,
        peaks=(density.scale, last) if last else None,
        made_of=(atoms, density),
    )


def _truncations(first: Law, second: Law) -> tuple[float, float]:
    """Mass cut and profile error of a product: each factor is at most 1."""
    cut = 1 - (1 - first.mass_cut) * (1 - second.mass_cut)
    return cut, first.sup_error + second.sup_error


@dataclass(frozen=True, eq=False)
class _Multiplied:
    """Product of two laws' profiles."""

    first: Law
    second: Law

    def __call__(self, lag: Float64Array) -> Float64Array:
        return np.asarray(self.first.characteristic(lag).real * self.second.characteristic(lag).real)


@dataclass(frozen=True, eq=False)
class _Shifted:
    """Mean of copies of a distribution, each moved to a node; symmetric when nodes and weights are."""

    whole: Distribution
    nodes: Float64Array
    weights: Float64Array
    scale: float
    _inverse: SurvivalInverse = field(init=False, repr=False)

    def __post_init__(self) -> None:
        inverse = SurvivalInverse(self._survival, self._folded, self.scale)
        object.__setattr__(self, "_inverse", inverse)

    def pdf(self, x: Float64Array) -> Float64Array:
        return self._mean(self.whole.pdf, x)

    def cdf(self, x: Float64Array) -> Float64Array:
        return np.asarray(np.minimum(self._mean(self.whole.cdf, x), 1.0))

    def tail(self, x: Float64Array) -> Float64Array:
        return self.cdf(np.asarray(-np.abs(x)))

    def ppf(self, q: Float64Array) -> Float64Array:
        return np.asarray(-self._inverse(np.asarray(2 * q)))

    def _survival(self, x: Float64Array) -> Float64Array:
        return np.asarray(2 * self.tail(x))

    def _folded(self, x: Float64Array) -> Float64Array:
        return np.asarray(2 * self.pdf(x))

    def _mean(self, of: Callable[[Float64Array], Float64Array], x: Float64Array) -> Float64Array:
        points = np.asarray(x, np.float64).ravel()
        values = np.empty(points.shape)
        step = max(1, _AT_ONCE // len(self.nodes))
        for start in range(0, len(points), step):
            some = points[start : start + step]
            values[start : start + step] = of(np.subtract.outer(some, self.nodes)) @ self.weights
        return values.reshape(np.shape(x))
