"""Random streams that are functions of (seed, layer, head) and share nothing with each other."""

from collections.abc import Callable

import numpy as np

from rota.errors import InputError

__all__: list[str] = []

# Words that mark streams beside a head's own; no part of an encoding has such an index.
_SHARED = 2**31  # of the one that the heads of a layer share
_COINS = 2**31 + 1  # of a head's signs

Streams = Callable[[int | None], np.random.Generator]
"""Generator of a head, or with ``None`` the one that the heads of the layer share."""


def streams(seed: int, layer: int, path: tuple[int, ...]) -> Streams:
    """Generators of one layer.

    Args:
        seed: Of the run.
        layer: Index of the layer.
        path: Which part of a composed encoding is drawing; ``()`` for a whole one.

    Raises:
        InputError: Seed or layer is negative or does not fit 32 bits (longer ones could collide).
    """
    if not (0 <= seed < 2**32 and 0 <= layer < 2**32):
        raise InputError(f"seed {seed} and layer {layer}: expected integers from 0 to 2**32 - 1")

    def generator(head: int | None) -> np.random.Generator:
        if head is None:
            return _generator([seed, layer], (*path, _SHARED))
        return _generator([seed, layer, head], path)

    return generator


def coins(seed: int, layer: int, path: tuple[int, ...], head: int) -> np.random.Generator:
    """Generator of the signs of a head's frequencies, for seeds and layers that `streams` takes.

    It is not the head's own one, so that signs do not depend on how many numbers were spread before.

    Args:
        seed: Of the run.
        layer: Index of the layer.
        path: As of `streams`.
        head: Index of the head.
    """
    return _generator([seed, layer, head], (*path, _COINS))


def _generator(entropy: list[int], key: tuple[int, ...]) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy, spawn_key=key)))
