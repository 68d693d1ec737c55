"""Normalised discounted cumulative gain with one target."""

from dataclasses import dataclass

import numpy as np

from rota.evaluation.metrics.base import Metric
from rota.types import Float64Array


@dataclass(frozen=True)
class NDCG(Metric):
    """``1 / log2(1 + rank)`` within the cutoff; with one target the ideal gain is 1.

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002, with the
    discount ``log2(1 + rank)`` that recommenders use.
    """

    def gain(self, ranks: Float64Array) -> Float64Array:
        """Discount by the logarithm of the rank."""
        return np.asarray(1.0 / np.log2(1.0 + ranks))
