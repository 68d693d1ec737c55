"""Merging laws of atoms: one lattice where their periods have a common multiple in reach."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from rota.spectra.atoms import Atoms, gathered_atoms
from rota.spectra.discrete import Discrete, gathered
from rota.spectra.lattice import Lattice
from rota.types import Int64Array

__all__: list[str] = []

_EXACT = 2**53  # float64 counts so far


def merge(laws: Sequence[Discrete], weights: Sequence[float]) -> Lattice | Atoms:
    """One law of the atoms of several, each weighted; weights sum to one.

    The harmonics of 24 h and of 7 days become harmonics of 7 days, still integers.
    """
    cut = math.fsum(weight * law.mass_cut for weight, law in zip(weights, laws, strict=True))
    error = math.fsum(weight * law.sup_error for weight, law in zip(weights, laws, strict=True))
    masses = np.concatenate([weight * law.masses for weight, law in zip(weights, laws, strict=True)])
    masses /= masses.sum()
    common = on_common_lattice(laws)
    if common is None:
        return gathered_atoms(np.concatenate([law.frequencies for law in laws]), masses, cut, error)
    period, harmonics = common
    distinct, together = gathered(np.concatenate(harmonics), masses)
    return Lattice(period, distinct, together, cut, None, error)


def on_common_lattice(laws: Sequence[Discrete]) -> tuple[float, list[Int64Array]] | None:
    """The least period that holds every law's atoms and their harmonics of it.

    Returns:
        ``None`` where a law is no lattice, or the harmonics would leave what float64 counts exactly.
    """
    lattices = [law for law in laws if isinstance(law, Lattice)]
    if len(lattices) < len(laws):
        return None
    moving = [law for law in lattices if law.harmonics.any()] or lattices[:1]  # a constant fits every period
    written = [Fraction(repr(float(law.period))) for law in moving]  # as people write them: 0.1 is a tenth
    common = Fraction(
        math.lcm(*(period.numerator for period in written)),
        math.gcd(*(period.denominator for period in written)),
    )
    times = {id(law): int(common / period) for law, period in zip(moving, written, strict=True)}
    highest = max(int(np.abs(law.harmonics).max()) * times.get(id(law), 1) for law in lattices)
    if highest >= _EXACT or Fraction(repr(float(common))) != common:
        return None
    return float(common), [law.harmonics * times.get(id(law), 1) for law in lattices]
