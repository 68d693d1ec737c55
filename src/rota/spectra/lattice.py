"""Lattice: a law with all its mass on the harmonics k/T of one period; what periodic profiles have."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from rota.errors import InputError
from rota.spectra.discrete import Discrete, checked_masses, gathered
from rota.spectra.waves import circle, wave_sum
from rota.types import Complex128Array, Float64Array, Int64Array
from rota.units import lag_seconds


@dataclass(frozen=True, eq=False)
class Lattice(Discrete):
    """Probability mass on the frequencies ``harmonics / period``.

    The harmonics stay integers, so that phases can be exact.

    Attributes:
        period: Seconds.
        harmonics: Integers in ascending order, shape ``(n,)``.
        masses: Their probabilities, summing to one, shape ``(n,)``.
        mass_cut: Mass that truncations removed before the rest was renormalised.
        sigma_star: Scale of the harmonics where the law has one of its own, as a wrapped Gaussian has
            ``T / (2 pi sigma)``; else the root mean square harmonic is used.
        sup_error: Most by which truncations changed the profile, at any lag.
        frequencies: ``harmonics / period`` in cycles per second, shape ``(n,)``.

    Raises:
        InputError: The period is no length of time, harmonics are not ascending integers, or masses are
            negative or do not sum to one.
    """

    period: float
    harmonics: Int64Array
    masses: Float64Array
    mass_cut: float = 0.0
    sigma_star: float | None = None
    sup_error: float = 0.0
    frequencies: Float64Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.period) and self.period > 0):
            raise InputError(f"period {self.period} s of a lattice law: expected a positive, finite number")
        harmonics = _whole(self.harmonics)
        if harmonics.ndim != 1 or len(harmonics) == 0 or np.any(np.diff(harmonics) <= 0):
            raise InputError("a lattice law needs ascending harmonics and one mass for each")
        object.__setattr__(self, "harmonics", harmonics)
        object.__setattr__(self, "masses", checked_masses(self.masses, len(harmonics)))
        object.__setattr__(self, "frequencies", np.asarray(harmonics / self.period))

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
        # Before k multiplies the error; fmod, since mod adds the period to a negative lag, and rounds.
        turn = np.fmod(lag_seconds(lag), self.period) / self.period
        return wave_sum(circle, turn, self.harmonics, self.masses)

    def harmonic_quantile(self, probability: ArrayLike) -> Int64Array:
        """Quantile as an integer harmonic; probability in ``[0, 1)``, any shape."""
        return np.asarray(self.harmonics[self.index_of(probability)])

    @cached_property
    def spread(self) -> float:
        """Scale of the harmonics: ``sigma_star``, or where there is none, their root mean square."""
        if self.sigma_star is not None:
            return self.sigma_star
        return float(np.sqrt(np.sum(self.masses * self.harmonics.astype(np.float64) ** 2)))

    @property
    def scale(self) -> float:
        """Scale of the absolute frequency in cycles per second: ``spread / period``."""
        return self.spread / self.period

    def fold(self) -> "Lattice":
        """Law of the absolute harmonic (ClockRoPE, Eq. 20): twice the mass where ``k > 0``, none below."""
        harmonics, masses = gathered(np.abs(self.harmonics), self.masses)
        return Lattice(self.period, harmonics, masses, self.mass_cut, self.sigma_star, self.sup_error)

    def truncate(self, s: float | None = None) -> "Lattice":
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
        if kept.all():
            return self
        changed = np.where(kept, self.masses / mass, 0.0) - self.masses
        error = self.sup_error + _largest_cosine_sum(self.harmonics, changed)
        cut = 1 - (1 - self.mass_cut) * mass
        return Lattice(
            self.period, self.harmonics[kept], self.masses[kept] / mass, cut, self.sigma_star, error
        )

    def rescale(self, factor: float) -> "Lattice":
        """Law of ``f(lag / factor)``: the same harmonics of a period that is so many times as long."""
        return Lattice(
            self.period * factor, self.harmonics, self.masses, self.mass_cut, self.sigma_star, self.sup_error
        )


def _largest_cosine_sum(harmonics: Int64Array, coefficients: Float64Array) -> float:
    """Upper bound, to one part in a thousand, of ``|sum_k c_k cos(2 pi k x)|`` over all ``x``.

    It is evaluated on a grid; between its points a trigonometric polynomial of degree K exceeds them by a
    factor of at most ``1 / cos(pi K / N)`` (Ehlich and Zeller 1964).
    """
    absolute, sums = gathered(np.abs(harmonics), coefficients)
    highest = int(absolute[-1])
    if highest > 2**20:  # as after merging incommensurate periods: the plain bound
        return float(np.abs(sums).sum())
    points = 2 ** int(np.ceil(np.log2(64 * max(highest, 1))))
    spectrum = np.zeros(points // 2 + 1, np.complex128)
    spectrum[absolute] = sums * points / np.where(absolute == 0, 1, 2)
    on_grid = float(np.abs(np.fft.irfft(spectrum, points)).max())
    return min(on_grid / float(np.cos(np.pi * highest / points)), float(np.abs(sums).sum()))


def _whole(harmonics: ArrayLike) -> Int64Array:
    if np.any(np.mod(harmonics, 1)):
        raise InputError("some harmonics are no integers: they count whole cycles in a period")
    return np.asarray(harmonics, np.int64)
