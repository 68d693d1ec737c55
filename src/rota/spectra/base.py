"""Law: a probability measure over frequencies; the Fourier transform of a profile (Bochner, Herglotz)."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from rota.errors import InputError
from rota.types import Complex128Array, Float64Array

__all__ = ["Law"]


def probabilities(given: ArrayLike) -> Float64Array:
    """Probabilities as float64.

    Raises:
        InputError: One is not from 0 to 1.
    """
    p = np.asarray(given, np.float64)
    if not np.all((p >= 0) & (p <= 1)):  # nan is refused too
        raise InputError("probabilities of a quantile: expected numbers from 0 to 1")
    return p


class Law(ABC):
    """Where rotation frequencies are drawn from.

    A law is complete: its scale is in it, and nothing downstream rescales. Frequencies are in cycles per
    second, lags in seconds. It may have atoms (``mass_at``), a density (``pdf``), or both.
    """

    @property
    @abstractmethod
    def mass_cut(self) -> float:
        """Mass that truncations removed from the law that came first, before the rest was renormalised."""

    @property
    @abstractmethod
    def sup_error(self) -> float:
        """Most by which truncations changed the profile, at any lag."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """Scale of the absolute frequency in cycles per second, by which `truncate` goes."""

    @property
    @abstractmethod
    def is_symmetric(self) -> bool:
        """Whether a frequency is as likely as its negative; what a real profile's own law is."""

    @property
    @abstractmethod
    def is_folded(self) -> bool:
        """Whether no frequency is negative."""

    @abstractmethod
    def characteristic(self, lag: ArrayLike) -> Complex128Array:
        """Mean of ``exp(2j pi xi lag)``; its real part is the profile that the law realises.

        Args:
            lag: Seconds, any shape.
        """

    @abstractmethod
    def cdf(self, frequency: ArrayLike) -> Float64Array:
        """Probability of a frequency up to this one; cycles per second, any shape."""

    @abstractmethod
    def pdf(self, frequency: ArrayLike) -> Float64Array:
        """Density of what has one, in seconds (per cycle per second); zero for atoms. Any shape."""

    @abstractmethod
    def mass_at(self, frequency: ArrayLike) -> Float64Array:
        """Probability of exactly this frequency: zero where there is no atom. Any shape."""

    @abstractmethod
    def quantile(self, probability: ArrayLike) -> Float64Array:
        """Smallest frequency whose cumulative probability exceeds the given one, in cycles per second.

        Args:
            probability: In ``[0, 1)``, any shape; at 1, and at 0 of a law that has no least frequency, what
                is nearest to them.

        Raises:
            InputError: A probability is not from 0 to 1.
        """

    @abstractmethod
    def negative_share(self, absolute: ArrayLike) -> Float64Array:
        """Probability that a frequency is negative, given its absolute value; any shape."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Float64Array:
        """Draw ``n`` independent frequencies in cycles per second, shape ``(n,)``."""

    @abstractmethod
    def fold(self) -> "Law":
        """Law of the absolute frequency (ClockRoPE, Eq. 20)."""

    @abstractmethod
    def truncate(self, s: float | None = None) -> "Law":
        """Keep frequencies up to a largest one and renormalise (ClockRoPE, Eq. 19).

        What it did is on the result: ``mass_cut`` and ``sup_error``.

        Args:
            s: The largest: a harmonic for a lattice, cycles per second for any other law. By default three
                times ``scale``, for a lattice rounded up to a harmonic (``ceil(3 sigma*)``).

        Raises:
            InputError: It leaves no mass.
        """

    @abstractmethod
    def rescale(self, factor: float) -> "Law":
        """Law of ``f(lag / factor)``: every frequency divided by a positive factor."""
