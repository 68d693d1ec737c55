"""Nested lattice: even within each head, and even over the heads of a layer together."""

import numpy as np

from rota.frequencies.base import SamplingMethod
from rota.frequencies.streams import Streams
from rota.types import Float64Array


class NestedLattice(SamplingMethod):
    """``(j + (permuted head + U) / heads) / pairs`` with one ``U`` a layer, in random order within a head.

    A head's numbers are a shifted grid of step ``1 / pairs``; those of all heads a shifted grid of step
    ``1 / (heads * pairs)``.
    """

    def uniforms(self, pairs: int, heads: int, streams: Streams) -> Float64Array:
        """Numbers in ``[0, 1)``, shape ``(heads, pairs)``."""
        shared = streams(None)
        shifts = (shared.permutation(heads) + shared.random()) / heads
        orders = np.stack([streams(head).permutation(pairs) for head in range(heads)])
        return (orders + shifts[:, None]) / pairs
