"""Randomness as a function of (seed, purpose, epoch, step): a run needs no hidden state."""

from enum import IntEnum

import numpy as np
import torch

__all__: list[str] = []

_WORDS, _BEGIN = 624, 24  # state of the Mersenne twister, and where it lies in that of PyTorch's generator


class Purpose(IntEnum):
    """What a stream is for; two purposes share no stream."""

    ORDER = 1
    NEGATIVES = 2
    DROPOUT = 3


def stream_seed(seed: int, purpose: Purpose, *counters: int) -> int:
    """A 63-bit seed that is a function of its arguments alone."""
    return int(_sequence(seed, purpose, *counters).generate_state(1, np.uint64)[0] >> np.uint64(1))


def stream(seed: int, purpose: Purpose, *counters: int) -> torch.Generator:
    """PyTorch's generator for the CPU at the start of a stream of its own.

    Its whole state is drawn, as `torch.Generator.manual_seed` looks at 32 bits alone: of some 77,000 seeds
    two would be likely to give one stream.
    """
    generator = torch.Generator()
    _begin(generator, _sequence(seed, purpose, *counters))
    return generator


def enter_stream(seed: int, purpose: Purpose, *counters: int) -> None:
    """Let PyTorch's own generators, of the CPU and of every GPU, be at the start of a stream."""
    torch.manual_seed(stream_seed(seed, purpose, *counters))  # a GPU's looks at all 64 bits
    _begin(torch.default_generator, _sequence(seed, purpose, *counters))


def _sequence(seed: int, purpose: Purpose, *counters: int) -> np.random.SeedSequence:
    return np.random.SeedSequence([seed], spawn_key=(int(purpose), *counters))


def _begin(generator: torch.Generator, sequence: np.random.SeedSequence) -> None:
    """Give a generator for the CPU the twister's state; what else is in its own is as a new one has it."""
    state = torch.Generator().manual_seed(0).get_state()
    words = state[_BEGIN : _BEGIN + 8 * _WORDS].view(torch.int64)
    words.copy_(torch.from_numpy(sequence.generate_state(_WORDS, np.uint32).astype(np.int64)))
    generator.set_state(state)
