"""Hit rate: was a target among the first k?"""

from dataclasses import dataclass

import numpy as np

from rota.evaluation.metrics.base import Metric
from rota.types import Float64Array, Int64Array


@dataclass(frozen=True)
class HR(Metric):
    """Hit rate ``[r_1 <= k]``: any of the positives; with one, recall at ``k`` is the same number.

    Without a cutoff it is the share of questions with a positive that was a candidate at all.
    """

    def gain(self, ranks: Float64Array, places: Int64Array) -> Float64Array:
        """Every rank within the cutoff counts the same, and only the best of a question counts."""
        return np.where(places == 1, 1.0, 0.0)

    def whole(self, positives: Int64Array) -> Float64Array:
        """One hit is all."""
        return np.ones(positives.shape)
