"""Systematic draws: one random shift of an even grid, for each head."""

import numpy as np

from rota.frequencies.base import SamplingMethod
from rota.frequencies.streams import Streams
from rota.types import Float64Array


class Systematic(SamplingMethod):
    """``(j + U) / pairs`` with one ``U`` a head, in random order: every stratum has its number."""

    def uniforms(self, pairs: int, heads: int, streams: Streams) -> Float64Array:
        """Numbers in ``[0, 1)``, shape ``(heads, pairs)``."""
        return np.stack([_head(pairs, streams(head)) for head in range(heads)])


def _head(pairs: int, rng: np.random.Generator) -> Float64Array:
    shift = rng.random()
    return (rng.permutation(pairs) + shift) / pairs
