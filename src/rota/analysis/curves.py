"""The curve that attention by time gap is, and several of them as one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.types import Float64Array, Int64Array


@dataclass(frozen=True)
class AttentionByGap:
    """Mean attention in each bin of the time between query and key.

    Attributes:
        edges_hours: Edges of the bins in hours, shape ``(bins + 1,)``; a bin holds its lower edge.
        relative: Mean of probability x number of keys that the query could see, so that 1 is uniform
            attention; shape ``(bins,)``, NaN where a bin is empty.
        pairs: Pairs of a query and a key in each bin, shape ``(bins,)``.
    """

    edges_hours: Float64Array
    relative: Float64Array
    pairs: Int64Array

    @property
    def centres_hours(self) -> Float64Array:
        """Middle of each bin in hours, shape ``(bins,)``."""
        middle: Float64Array = (self.edges_hours[:-1] + self.edges_hours[1:]) / 2
        return middle


def pool_curves(curves: Sequence[AttentionByGap]) -> AttentionByGap:
    """One curve over the pairs of several, for instance of the seeds of an arm.

    Raises:
        InputError: There is no curve, or their bins differ.
    """
    if not curves or any(not np.array_equal(curve.edges_hours, curves[0].edges_hours) for curve in curves):
        raise InputError(f"{len(curves)} attention curves: expected one or more, all with the same bins")
    pairs = np.stack([curve.pairs for curve in curves]).sum(axis=0)
    weighted = [np.where(curve.pairs > 0, curve.relative * curve.pairs, 0.0) for curve in curves]
    total = np.stack(weighted).sum(axis=0)
    mean = np.divide(total, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
    return AttentionByGap(curves[0].edges_hours, mean, pairs)
