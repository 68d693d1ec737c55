"""Normalised discounted cumulative gain."""

from dataclasses import dataclass

import numpy as np

from rota.evaluation.metrics.base import Metric
from rota.types import Float64Array, Int64Array


@dataclass(frozen=True)
class NDCG(Metric):
    """Sum of ``1 / log2(1 + r_j)`` within the cutoff, over that of the best ranking: all positives on top.

    The best ranking has ``min(k, positives)`` of them within the cutoff; with one positive its gain is 1.

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002, with the
    discount ``log2(1 + rank)`` that recommenders use.
    """

    def gain(self, ranks: Float64Array, places: Int64Array) -> Float64Array:
        """Discount by the logarithm of the rank."""
        return np.asarray(1.0 / np.log2(1.0 + ranks))

    def whole(self, positives: Int64Array) -> Float64Array:
        """Gain of the best ranking."""
        most = int(positives.max(initial=0))
        sums = np.cumsum(1.0 / np.log2(1.0 + np.arange(1, most + 1)))
        return np.asarray(sums[np.minimum(positives, self.k or most) - 1])
