"""Hit rate: was the target among the first k?"""

from dataclasses import dataclass

import numpy as np

from rota.evaluation.metrics.base import Metric
from rota.types import Float64Array


@dataclass(frozen=True)
class HR(Metric):
    """Hit rate ``[rank <= k]``; with one target a user, recall at ``k`` is the same number.

    Without a cutoff it is the share of targets that were candidates at all.
    """

    def gain(self, ranks: Float64Array) -> Float64Array:
        """Every rank within the cutoff counts the same."""
        return np.ones_like(ranks)
