"""Shards: what a profile's law is drawn as: harmonics that stay exact, and real frequencies beside them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.measured import Measured
from rota.spectra.base import Law
from rota.spectra.lattice import Lattice
from rota.spectra.mixture import Mixture
from rota.types import Float64Array

__all__: list[str] = []


@dataclass(frozen=True, eq=False)
class Shard:
    """Pairs of features that turn at frequencies of one law.

    Attributes:
        law: A lattice, whose phases are exact, or any other law.
        pairs: Of each head.
        kernel: Which of several it is of, counted from 0.
    """

    law: Law
    pairs: int
    kernel: int

    @property
    def exact(self) -> bool:
        """Whether its frequencies are harmonics."""
        return isinstance(self.law, Lattice)


def law_to_draw(kernel: Kernel, truncation: int | None, *, still: bool, fold: bool) -> Law:
    """Law from which a kernel's frequencies are drawn.

    Args:
        kernel: Any that has a law.
        truncation: Largest harmonic of each lattice in it; by default ``ceil(3 sigma*)``, but what was
            measured is kept whole. Densities are not truncated.
        still: Keep the mass at frequency 0.
        fold: Fold it.

    Returns:
        One lattice where all is periodic and the periods have a common multiple; else a mixture, in which
        the lattices are one where they have such a multiple.

    Raises:
        InputError: The kernel has no law, or nothing of it turns and that alone is wanted.
    """
    whole = kernel.spectrum()
    parts, weights = _parts(whole)
    if truncation is not None or not isinstance(kernel, Measured):
        parts = [part.truncate(truncation) if isinstance(part, Lattice) else part for part in parts]
    if not still:
        parts, weights = _moving(parts, weights)
    if not parts:
        raise InputError(f'{kernel} never turns, and static="drop" leaves nothing of it: use static="keep"')
    one = _joined(parts, weights)
    return one.fold() if fold else one


def shards_of(law: Law, pairs: int, kernel: int) -> list[Shard]:
    """Deal a kernel's pairs to the parts of its law by their mass, by the largest remainder.

    What is no lattice is one part. A part whose mass is worth less than a pair may get none: no part is to be
    seen several times as large as it is.

    Args:
        law: As `law_to_draw` makes it.
        pairs: Of each head, one at least.
        kernel: Which of several, counted from 0.
    """
    parts, weights = _parts(law)
    exact = np.array([isinstance(part, Lattice) for part in parts])
    dealt: list[Law] = [part for part in parts if isinstance(part, Lattice)]
    masses = weights[exact]
    others = [part for part in parts if not isinstance(part, Lattice)]
    if others:
        rest = weights[~exact]
        dealt.append(_mixed(others, rest / rest.sum()))
        masses = np.append(masses, rest.sum())
    counts = _by_mass(pairs, masses)
    return [Shard(part, count, kernel) for part, count in zip(dealt, counts, strict=True) if count]


def _parts(law: Law) -> tuple[list[Law], Float64Array]:
    return (list(law.laws), law.weights) if isinstance(law, Mixture) else ([law], np.ones(1))


def _moving(parts: Sequence[Law], weights: Float64Array) -> tuple[list[Law], Float64Array]:
    """What is left without frequency 0."""
    stay = np.array([float(part.mass_at(0.0)) for part in parts])
    left = [_without_still(part) for part, still in zip(parts, stay, strict=True) if still < 1]
    masses = (weights * (1 - stay))[stay < 1]
    return left, masses / masses.sum()


def _without_still(part: Law) -> Law:
    if not isinstance(part, Lattice):
        return part  # atoms of no common period have a density's right to a frequency 0: it is one of many
    moves = part.harmonics != 0
    masses = part.masses[moves] / part.masses[moves].sum()
    return Lattice(part.period, part.harmonics[moves], masses, part.mass_cut, part.sigma_star, part.sup_error)


def _joined(parts: Sequence[Law], weights: Float64Array) -> Law:
    """Lattices as one where they have a common period; beside them what else there is."""
    exact = np.array([isinstance(part, Lattice) for part in parts])
    if exact.all():
        return _one_lattice(parts, weights)
    if not exact.any():
        return _mixed(parts, weights)
    lattices, mass = [part for part in parts if isinstance(part, Lattice)], weights[exact].sum()
    others = [part for part in parts if not isinstance(part, Lattice)]
    together = _one_lattice(lattices, weights[exact] / mass)
    return Mixture([together, *others], np.r_[mass, weights[~exact]])


def _one_lattice(lattices: Sequence[Law], weights: Float64Array) -> Law:
    mixed = _mixed(lattices, weights)
    merged = mixed.merged() if isinstance(mixed, Mixture) else mixed
    return merged if isinstance(merged, Lattice) else mixed


def _mixed(parts: Sequence[Law], weights: Float64Array) -> Law:
    return parts[0] if len(parts) == 1 else Mixture(parts, weights)


def _by_mass(pairs: int, masses: Float64Array) -> list[int]:
    wanted = pairs * masses / masses.sum()
    counts = np.floor(wanted + 1e-9).astype(np.int64)
    counts[np.argsort(counts - wanted, kind="stable")[: pairs - counts.sum()]] += 1
    return [int(count) for count in counts]
