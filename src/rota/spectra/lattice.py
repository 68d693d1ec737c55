"""Lattice: a law with all its mass on the harmonics k/T of one period; what periodic profiles have."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from rota.errors import InputError
from rota.spectra.base import Law
from rota.types import Complex128Array, Float64Array, Int64Array

_AT_ONCE = 256  # harmonics summed at once: fast, and memory stays that of the lags times this


@dataclass(frozen=True, eq=False)
class Lattice(Law):
    """Probability mass on the frequencies ``harmonics / period``.

    The harmonics stay integers, so that phases can be exact.

    Attributes:
        period: Seconds.
        harmonics: Integers in ascending order, shape ``(n,)``.
        masses: Their probabilities, summing to one, shape ``(n,)``.
        mass_cut: Mass that a truncation removed before the rest was renormalised.
        sigma_star: Scale of the harmonics where the law has one of its own, as a wrapped Gaussian has
            ``T / (2 pi sigma)``; else the root mean square harmonic is used.

    Raises:
        InputError: The period is no length of time, harmonics are not ascending integers, or masses are
            negative or do not sum to one.
    """

    period: float
    harmonics: Int64Array
    masses: Float64Array
    mass_cut: float = 0.0
    sigma_star: float | None = None
    _cumulative: Float64Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.period) and self.period > 0):
            raise InputError(f"period {self.period} s of a lattice law: expected a positive, finite number")
        harmonics, masses = _whole(self.harmonics), np.asarray(self.masses, np.float64)
        if harmonics.shape != masses.shape or harmonics.ndim != 1 or np.any(np.diff(harmonics) <= 0):
            raise InputError("a lattice law needs ascending harmonics and one mass for each")
        if not (np.all(masses >= 0) and abs(float(masses.sum()) - 1) <= 1e-9):  # nan is refused too
            raise InputError(
                f"masses of a law are not negative and sum to 1; these sum to {masses.sum():.12g}"
            )
        object.__setattr__(self, "harmonics", harmonics)
        object.__setattr__(self, "masses", masses)
        object.__setattr__(self, "_cumulative", np.cumsum(masses))

    def pmf(self, harmonic: ArrayLike) -> Float64Array:
        """Probability of a harmonic ``k``, that is of the frequency ``k / period``; any shape of integers.

        Raises:
            InputError: A harmonic is not an integer.
        """
        wanted = _whole(harmonic)
        at = np.clip(np.searchsorted(self.harmonics, wanted), 0, len(self.harmonics) - 1)
        return np.where(self.harmonics[at] == wanted, self.masses[at], 0.0)

    def characteristic(self, lag: ArrayLike) -> Complex128Array:
        """Sum of ``pmf(k) exp(2j pi k lag / period)``; lag in seconds, any shape."""
        turn = np.mod(np.asarray(lag, np.float64), self.period) / self.period  # before k multiplies the error
        total = np.zeros(turn.shape, np.complex128)
        for first in range(0, len(self.harmonics), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            total += np.exp(2j * np.pi * np.multiply.outer(turn, self.harmonics[some])) @ self.masses[some]
        return total

    def harmonic_quantile(self, probability: ArrayLike) -> Int64Array:
        """Quantile as an integer harmonic; probability in ``[0, 1)``, any shape."""
        at = np.searchsorted(self._cumulative, np.asarray(probability, np.float64), side="right")
        return np.asarray(self.harmonics[np.minimum(at, len(self.harmonics) - 1)])

    def quantile(self, probability: ArrayLike) -> Float64Array:
        """Quantile in cycles per second; probability in ``[0, 1)``, any shape."""
        return np.asarray(self.harmonic_quantile(probability) / self.period)

    def sample(self, n: int, rng: np.random.Generator) -> Float64Array:
        """Draw ``n`` independent frequencies in cycles per second, shape ``(n,)``."""
        return self.quantile(rng.random(n))

    @property
    def spread(self) -> float:
        """Scale of the harmonics: ``sigma_star``, or where there is none, their root mean square."""
        if self.sigma_star is not None:
            return self.sigma_star
        return float(np.sqrt(np.sum(self.masses * self.harmonics.astype(np.float64) ** 2)))

    def fold(self) -> "Lattice":
        """Law of the absolute harmonic (ClockRoPE, Eq. 20): twice the mass where ``k > 0``, none below."""
        absolute = np.abs(self.harmonics)
        harmonics = np.unique(absolute)
        masses = np.zeros(len(harmonics))
        np.add.at(masses, np.searchsorted(harmonics, absolute), self.masses)
        return Lattice(self.period, harmonics, masses, self.mass_cut, self.sigma_star)

    def truncate(self, s: int | None = None) -> "Lattice":
        """Keep harmonics up to ``s`` in absolute value and renormalise (ClockRoPE, Eq. 19).

        Args:
            s: Largest harmonic; by default ``ceil(3 * spread)``, at which what is lost is not seen.

        Raises:
            InputError: ``s`` is negative, or no mass is left.
        """
        largest = int(np.ceil(3 * self.spread)) if s is None else s
        kept = np.abs(self.harmonics) <= largest
        mass = float(self.masses[kept].sum())
        if largest < 0 or mass <= 0:
            raise InputError(f"truncation at harmonic {largest} leaves no mass: expected a larger s")
        cut = 1 - (1 - self.mass_cut) * mass
        return Lattice(self.period, self.harmonics[kept], self.masses[kept] / mass, cut, self.sigma_star)


def _whole(harmonics: ArrayLike) -> Int64Array:
    if np.any(np.mod(harmonics, 1)):
        raise InputError("some harmonics are no integers: they count whole cycles in a period")
    return np.asarray(harmonics, np.int64)
