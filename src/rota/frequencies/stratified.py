"""Stratified draws: one number in each of n equal strata, independent of the others."""

import numpy as np

from rota.frequencies.base import SamplingMethod
from rota.frequencies.streams import Streams
from rota.types import Float64Array


class Stratified(SamplingMethod):
    """``(j + U_j) / pairs`` with a ``U_j`` for each number, in random order within a head.

    Less even than ``systematic`` where pairs are few (root mean square errors of 0.134 against 0.087 at 8
    pairs of 24 h and 2 h), but it has no grid, and so no lag at which all pairs agree again.
    """

    def uniforms(self, pairs: int, heads: int, streams: Streams) -> Float64Array:
        """Numbers in ``[0, 1)``, shape ``(heads, pairs)``."""
        return np.stack([_head(pairs, streams(head)) for head in range(heads)])


def _head(pairs: int, rng: np.random.Generator) -> Float64Array:
    return (rng.permutation(pairs) + rng.random(pairs)) / pairs
