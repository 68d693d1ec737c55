"""Atoms: mass on any frequencies; what is left of lattices whose periods have no common multiple in reach."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rota.errors import InputError
from rota.spectra.discrete import Discrete, checked_masses, sums_of
from rota.spectra.waves import circle, wave_sum
from rota.types import Complex128Array, Float64Array
from rota.units import lag_seconds


@dataclass(frozen=True, eq=False)
class Atoms(Discrete):
    """Probability mass on finitely many frequencies.

    Attributes:
        frequencies: Cycles per second, ascending, shape ``(n,)``.
        masses: Their probabilities, summing to one, shape ``(n,)``.
        mass_cut: Mass that truncations removed before the rest was renormalised.
        sup_error: Most by which truncations changed the profile, at any lag.

    Raises:
        InputError: Frequencies are not ascending, or masses are negative or do not sum to one.
    """

    frequencies: Float64Array
    masses: Float64Array
    mass_cut: float = 0.0
    sup_error: float = 0.0

    def __post_init__(self) -> None:
        frequencies = np.asarray(self.frequencies, np.float64)
        ascending = frequencies.ndim == 1 and len(frequencies) > 0 and np.all(np.diff(frequencies) > 0)
        if not (ascending and np.isfinite(frequencies).all()):
            raise InputError("a law of atoms needs finite, ascending frequencies and one mass for each")
        object.__setattr__(self, "frequencies", frequencies)
        object.__setattr__(self, "masses", checked_masses(self.masses, len(frequencies)))

    @property
    def scale(self) -> float:
        """Root mean square frequency, in cycles per second."""
        return float(np.sqrt(np.sum(self.masses * self.frequencies**2)))

    def characteristic(self, lag: ArrayLike) -> Complex128Array:
        """Sum of ``mass exp(2j pi frequency lag)``; lag in seconds, any shape."""
        return wave_sum(circle, lag_seconds(lag), self.frequencies, self.masses)

    def fold(self) -> "Atoms":
        """Law of the absolute frequency (ClockRoPE, Eq. 20)."""
        return gathered_atoms(np.abs(self.frequencies), self.masses, self.mass_cut, self.sup_error)

    def truncate(self, s: float | None = None) -> "Atoms":
        """Keep frequencies up to ``s`` cycles per second in absolute value and renormalise.

        Args:
            s: Cycles per second; by default three times ``scale``.

        Raises:
            InputError: No mass is left.
        """
        largest = 3 * self.scale if s is None else s
        kept = np.abs(self.frequencies) <= largest
        mass = float(self.masses[kept].sum())
        if mass <= 0:
            raise InputError(
                f"truncation at {largest:g} cycles per second leaves no mass: expected a larger s"
            )
        if kept.all():
            return self
        cut = 1 - (1 - self.mass_cut) * mass
        # Incommensurate cosines come as close as one likes to all agreeing: the plain bound is the supremum.
        error = self.sup_error + 2 * (1 - mass)
        return Atoms(self.frequencies[kept], self.masses[kept] / mass, cut, error)

    def rescale(self, factor: float) -> "Atoms":
        """Law of ``f(lag / factor)``."""
        return Atoms(self.frequencies / factor, self.masses, self.mass_cut, self.sup_error)


def gathered_atoms(
    frequencies: Float64Array, masses: Float64Array, mass_cut: float = 0.0, sup_error: float = 0.0
) -> Atoms:
    """Atoms of frequencies in any order; those that differ by rounding alone become one.

    Args:
        frequencies: Cycles per second, shape ``(n,)``.
        masses: Shape ``(n,)``.
        mass_cut: As the law's.
        sup_error: As the law's.
    """
    order = np.argsort(frequencies, kind="stable")
    ascending, sorted_masses = frequencies[order], masses[order]
    slack = 1e-14 * max(float(np.abs(ascending).max()), np.finfo(np.float64).tiny)
    starts = np.concatenate([[True], np.diff(ascending) > slack])
    groups = np.cumsum(starts) - 1
    lowest, highest = ascending[starts], ascending[np.concatenate([starts[1:], [True]])]
    # The one nearest to zero stands for all, or zero between: a law and its mirror image choose alike.
    chosen = np.where(lowest >= 0, lowest, np.minimum(highest, 0.0))
    return Atoms(chosen, sums_of(groups, sorted_masses, int(starts.sum())), mass_cut, sup_error)
