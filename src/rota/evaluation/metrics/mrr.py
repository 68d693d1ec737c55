"""Mean reciprocal rank."""

from dataclasses import dataclass

import numpy as np

from rota.evaluation.metrics.base import Metric
from rota.types import Float64Array, Int64Array


@dataclass(frozen=True)
class MRR(Metric):
    """``1 / r_1`` of the best ranked positive, of the whole ranking unless cut off."""

    def gain(self, ranks: Float64Array, places: Int64Array) -> Float64Array:
        """Discount by the rank; only the best of a question counts."""
        return np.where(places == 1, 1.0 / ranks, 0.0)

    def whole(self, positives: Int64Array) -> Float64Array:
        """One positive is all."""
        return np.ones(positives.shape)
