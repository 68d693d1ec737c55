"""Mean average precision."""

from dataclasses import dataclass

import numpy as np

from rota.evaluation.metrics.base import Metric
from rota.types import Float64Array, Int64Array


@dataclass(frozen=True)
class MAP(Metric):
    """Sum of the precisions ``j / r_j`` at the positives within the cutoff, over the number of all positives.

    As trec_eval's ``map`` and ``map_cut``: below 1 where there are more positives than the cutoff. With one
    positive it is ``MRR``, with and without a cutoff.
    """

    def gain(self, ranks: Float64Array, places: Int64Array) -> Float64Array:
        """Precision of the list that ends at the positive."""
        return places / ranks

    def whole(self, positives: Int64Array) -> Float64Array:
        """All positives."""
        return positives.astype(np.float64)
