"""Randomness as a function of (seed, purpose, epoch, step): a run needs no hidden state."""

from enum import IntEnum

import numpy as np

__all__: list[str] = []


class Purpose(IntEnum):
    """What a stream is for; two purposes share no stream."""

    ORDER = 1
    NEGATIVES = 2
    DROPOUT = 3


def stream_seed(seed: int, purpose: Purpose, *counters: int) -> int:
    """A 63-bit seed that is a function of its arguments alone."""
    state = np.random.SeedSequence([seed], spawn_key=(int(purpose), *counters)).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))
