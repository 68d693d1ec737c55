"""Mean reciprocal rank."""

from dataclasses import dataclass

from rota.evaluation.metrics.base import Metric
from rota.types import Float64Array


@dataclass(frozen=True)
class MRR(Metric):
    """``1 / rank``, of the whole ranking unless cut off; with one target, ``MRR@k`` is also ``MAP@k``."""

    def gain(self, ranks: Float64Array) -> Float64Array:
        """Discount by the rank."""
        return 1.0 / ranks
