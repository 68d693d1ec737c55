"""Independent draws: the papers' method, and the reference for the others."""

import numpy as np

from rota.frequencies.base import SamplingMethod
from rota.frequencies.streams import Streams
from rota.types import Float64Array


class IID(SamplingMethod):
    """Each number on its own (ClockRoPE, Algorithm 2)."""

    def uniforms(self, pairs: int, heads: int, streams: Streams) -> Float64Array:
        """Numbers in ``[0, 1)``, shape ``(heads, pairs)``."""
        return np.stack([streams(head).random(pairs) for head in range(heads)])
