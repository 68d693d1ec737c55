"""Law: a probability measure over frequencies; the Fourier transform of a profile (Bochner, Herglotz)."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from rota.types import Complex128Array, Float64Array


class Law(ABC):
    """Where rotation frequencies are drawn from.

    A law is complete: its scale is in it, and nothing downstream rescales. Frequencies are in cycles per
    second, lags in seconds.
    """

    @abstractmethod
    def characteristic(self, lag: ArrayLike) -> Complex128Array:
        """Mean of ``exp(2j pi xi lag)``; its real part is the profile that the law realises.

        Args:
            lag: Seconds, any shape.
        """

    @abstractmethod
    def quantile(self, probability: ArrayLike) -> Float64Array:
        """Smallest frequency whose cumulative probability exceeds the given one, in cycles per second.

        Args:
            probability: In ``[0, 1)``, any shape.
        """

    @abstractmethod
    def fold(self) -> "Law":
        """Law of the absolute frequency (ClockRoPE, Eq. 20)."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> Float64Array:
        """Draw ``n`` independent frequencies in cycles per second, shape ``(n,)``."""
