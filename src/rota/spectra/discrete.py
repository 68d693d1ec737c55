"""Discrete: what laws made of atoms have in common."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from rota.errors import InputError
from rota.spectra.base import Law, probabilities
from rota.types import Float64Array, Int64Array


class Discrete(Law):
    """A law of finitely many atoms.

    Attributes:
        frequencies: Of the atoms, in cycles per second, ascending, shape ``(n,)``.
        masses: Their probabilities, shape ``(n,)``.
    """

    frequencies: Float64Array
    masses: Float64Array

    @cached_property
    def _cumulative(self) -> Float64Array:
        return np.cumsum(self.masses)

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether a frequency is as likely as its negative, to rounding."""
        mirrored = self.mass_at(-self.frequencies)
        return bool(np.allclose(mirrored, self.masses, rtol=1e-9, atol=1e-14))

    @property
    def is_folded(self) -> bool:
        """Whether no frequency is negative."""
        return bool(self.frequencies[0] >= 0)

    def cdf(self, frequency: ArrayLike) -> Float64Array:
        """Probability of a frequency up to this one; cycles per second, any shape."""
        at = np.searchsorted(self.frequencies, np.asarray(frequency, np.float64), side="right")
        return np.asarray(np.concatenate([[0.0], self._cumulative])[at])

    def pdf(self, frequency: ArrayLike) -> Float64Array:
        """Zero everywhere: there are only atoms."""
        return np.zeros(np.shape(frequency))

    def mass_at(self, frequency: ArrayLike) -> Float64Array:
        """Probability of exactly this frequency; any shape."""
        wanted = np.asarray(frequency, np.float64)
        at = np.clip(np.searchsorted(self.frequencies, wanted), 0, len(self.frequencies) - 1)
        return np.where(self.frequencies[at] == wanted, self.masses[at], 0.0)

    def quantile(self, probability: ArrayLike) -> Float64Array:
        """Quantile in cycles per second; probability in ``[0, 1)``, any shape."""
        return np.asarray(self.frequencies[self.index_of(probability)])

    def index_of(self, probability: ArrayLike) -> Int64Array:
        """Which atom is the quantile; probability in ``[0, 1)``, any shape."""
        at = np.searchsorted(self._cumulative, probabilities(probability), side="right")
        return np.asarray(np.minimum(at, len(self.masses) - 1))

    def negative_share(self, absolute: ArrayLike) -> Float64Array:
        """Probability that a frequency is negative, given its absolute value; any shape."""
        size = np.abs(np.asarray(absolute, np.float64))
        negative, positive = self.mass_at(-size), self.mass_at(size)
        both = np.where(negative + positive > 0, negative + positive, 1.0)
        return np.where(size == 0, 0.0, negative / both)

    def sample(self, n: int, rng: np.random.Generator) -> Float64Array:
        """Draw ``n`` independent frequencies in cycles per second, shape ``(n,)``."""
        return self.quantile(rng.random(n))


def checked_masses(masses: ArrayLike, atoms: int) -> Float64Array:
    """Masses as they must be: one for each atom, not negative, summing to one.

    Raises:
        InputError: They are not.
    """
    checked = np.asarray(masses, np.float64)
    if checked.shape != (atoms,):
        raise InputError(
            f"{atoms} atoms of a law with masses of shape {checked.shape}: needs one mass for each"
        )
    if not (np.all(checked >= 0) and abs(float(checked.sum()) - 1) <= 1e-9):  # nan is refused too
        raise InputError(f"masses of a law are not negative and sum to 1; these sum to {checked.sum():.12g}")
    return checked


def gathered(places: ArrayLike, masses: Float64Array) -> tuple[np.ndarray, Float64Array]:
    """Distinct places in ascending order, and the mass that each has got in all."""
    distinct, index = np.unique(places, return_inverse=True)
    return distinct, sums_of(index, masses, len(distinct))


def sums_of(index: np.ndarray, masses: Float64Array, count: int) -> Float64Array:
    """Masses summed by the index that each has, shape ``(count,)``."""
    return np.bincount(index.ravel(), weights=masses.ravel(), minlength=count).astype(np.float64)
