"""Metric: what a rank is worth to one user."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.types import Float64Array, Int64Array


@dataclass(frozen=True)
class Metric(ABC):
    """Value of the target's rank; the figure that is reported is its mean over users.

    Attributes:
        k: Ranks beyond the first ``k`` are worth nothing; ``None`` looks at the whole ranking.
    """

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise InputError(f"cutoff {self.k} of {type(self).__name__}: expected at least 1")

    @property
    def name(self) -> str:
        """Name in tables and files, for instance ``"HR@10"``."""
        kind = type(self).__name__
        return kind if self.k is None else f"{kind}@{self.k}"

    def __call__(self, ranks: Int64Array) -> Float64Array:
        """Value for each user.

        Args:
            ranks: 1-based ranks; 0 says that the target was not among the candidates, which is a miss.

        Returns:
            Values in ``[0, 1]``, in the shape of ``ranks``.

        Raises:
            InputError: A rank is negative.
        """
        if np.any(ranks < 0):
            raise InputError(
                f"rank {np.min(ranks)}: expected 1 or more, or 0 for a target that was no candidate"
            )
        hit = ranks > 0 if self.k is None else (ranks > 0) & (ranks <= self.k)
        value = self.gain(np.maximum(ranks, 1).astype(np.float64))
        return np.where(hit, value, 0.0)

    @abstractmethod
    def gain(self, ranks: Float64Array) -> Float64Array:
        """Worth of a rank, at least 1, that the cutoff lets through; in ``(0, 1]``, and 1 at rank 1."""
