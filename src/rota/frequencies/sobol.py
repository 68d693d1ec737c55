"""Scrambled Sobol draws: one sequence a layer, of which each head has a block."""

import numpy as np
from scipy.stats import qmc

from rota.frequencies.base import SamplingMethod
from rota.frequencies.streams import Streams
from rota.types import Float64Array

_BITS = 53  # float64 holds so many; scipy's default of 30 would be seen in a density's frequencies


class Sobol(SamplingMethod):
    """Blocks of one scrambled Sobol sequence, in random order within a head.

    Where ``pairs`` is a power of two, each head has one number in each of ``pairs`` strata; where ``heads``
    is one too, all heads together have one in each of ``heads * pairs``. Other counts come near that.
    """

    def uniforms(self, pairs: int, heads: int, streams: Streams) -> Float64Array:
        """Numbers in ``[0, 1)``, shape ``(heads, pairs)``."""
        sequence = qmc.Sobol(d=1, scramble=True, bits=_BITS, rng=streams(None))
        whole = sequence.random_base2((heads * pairs - 1).bit_length())[: heads * pairs, 0]
        blocks = whole.reshape(heads, pairs)
        orders = np.stack([streams(head).permutation(pairs) for head in range(heads)])
        return np.take_along_axis(blocks, orders, axis=1)
