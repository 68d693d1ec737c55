"""Counts: how often each value occurs, and the quantiles of that, exactly."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rota.types import Int64Array

__all__ = ["Counts", "count_values"]


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each value occurs.

    Attributes:
        values: In growing order, each once; shape ``(values,)``.
        times: How often it occurs; shape ``(values,)``.
    """

    values: Int64Array
    times: Int64Array

    @property
    def total(self) -> int:
        """How many there are in all."""
        return int(self.times.sum())

    def quantile(self, percent: int) -> int:
        """The least value that so many percent do not exceed; 0 where there is no value."""
        if not len(self.values):
            return 0
        rank = -(-percent * self.total // 100)  # in integers: nothing to round
        at = int(np.searchsorted(np.cumsum(self.times), max(rank, 1)))
        return int(self.values[at])

    def between(self, edges: Sequence[int]) -> list[int]:
        """How many lie from each edge, which counts, up to the next one."""
        inner = np.searchsorted(np.asarray(edges), self.values, side="right") - 1
        sums = np.zeros(len(edges), dtype=np.int64)
        np.add.at(sums, inner[inner >= 0], self.times[inner >= 0])
        return [int(each) for each in sums[:-1]]

    def of(self, value: int) -> int:
        """How often a value occurs."""
        return int(self.times[self.values == value].sum())


def count_values(values: Int64Array, times: Int64Array) -> Counts:
    """Counts of values in any order, each perhaps several times.

    Args:
        values: Shape ``(rows,)``.
        times: How often each row counts, shape ``(rows,)``.
    """
    distinct, where = np.unique(values, return_inverse=True)
    sums = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sums, where, times)
    return Counts(distinct.astype(np.int64), sums)
