"""Metric: what the ranks of a question's positives are worth."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.types import Float64Array, Int64Array


@dataclass(frozen=True)
class Metric(ABC):
    """Value of the ranks of one question's positives; the figure that is reported is its mean over users.

    With one positive, ranked ``r``, every metric is a function of ``r`` that is 1 at the first rank. With
    several, the j-th best of them stands at ``r_j >= j``: positives that tie share the last rank of the tie.

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

    def __call__(self, ranks: Int64Array, offsets: Int64Array | None = None) -> Float64Array:
        """Value for each question.

        Args:
            ranks: 1-based ranks of distinct positives; 0 says that one was not among the candidates, which
                is a miss.
            offsets: Question ``s`` owns ``ranks[offsets[s]]`` up to ``ranks[offsets[s + 1]]``, shape
                ``(questions + 1,)``. Without, each rank is a question.

        Returns:
            Values in ``[0, 1]``, shape ``(questions,)``; in the shape of ``ranks`` without offsets. NaN where
            a question has no positive: nothing could be found, which is neither a hit nor a miss.

        Raises:
            InputError: A rank is negative, or the offsets are not those of the ranks.
        """
        if np.any(ranks < 0):
            raise InputError(
                f"rank {np.min(ranks)}: expected 1 or more, or 0 for a target that was no candidate"
            )
        if offsets is None:
            return self._gains(ranks, np.ones_like(ranks)) / self.whole(np.ones_like(ranks))
        sizes = np.diff(offsets)
        if not len(offsets) or np.any(sizes < 0) or (offsets[0], offsets[-1]) != (0, len(ranks)):
            raise InputError(
                f"offsets of {len(sizes)} questions over {len(ranks)} ranks: expected them to begin at 0, "
                "never to fall, and to end at the number of ranks"
            )
        own = np.repeat(np.arange(len(sizes)), sizes)
        ordered = ranks[np.lexsort((np.where(ranks > 0, ranks, np.iinfo(np.int64).max), own))]
        gains = self._gains(ordered, np.arange(len(ranks)) - offsets[own] + 1)
        values, asked = np.full(len(sizes), np.nan), sizes > 0
        if asked.any():
            values[asked] = np.add.reduceat(gains, offsets[:-1][asked]) / self.whole(sizes[asked])
        return values

    def _gains(self, ranks: Int64Array, places: Int64Array) -> Float64Array:
        hit = ranks > 0 if self.k is None else (ranks > 0) & (ranks <= self.k)
        value = self.gain(np.maximum(ranks, 1).astype(np.float64), places)
        return np.where(hit, value, 0.0)

    @abstractmethod
    def gain(self, ranks: Float64Array, places: Int64Array) -> Float64Array:
        """What a positive adds to the value of its question.

        Args:
            ranks: Its rank, at least 1, which the cutoff lets through.
            places: Its place among the positives of its question by rank, from 1; in the same shape.
        """

    @abstractmethod
    def whole(self, positives: Int64Array) -> Float64Array:
        """What the sum of gains is divided by.

        Args:
            positives: Number of positives of each question.
        """
