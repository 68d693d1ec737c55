"""Recall: how many of the targets were among the first k?"""

from dataclasses import dataclass

import numpy as np

from rota.evaluation.metrics.base import Metric
from rota.types import Float64Array, Int64Array


@dataclass(frozen=True)
class Recall(Metric):
    """Share of the positives with ``r_j <= k``, of all of them: below 1 where there are more than ``k``.

    With one positive it is the hit rate. Without a cutoff it is the share that were candidates at all.
    """

    def gain(self, ranks: Float64Array, places: Int64Array) -> Float64Array:
        """Every positive within the cutoff counts the same."""
        return np.ones_like(ranks)

    def whole(self, positives: Int64Array) -> Float64Array:
        """All positives."""
        return positives.astype(np.float64)
