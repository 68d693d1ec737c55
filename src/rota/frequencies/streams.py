"""Random streams that are functions of (seed, layer, head) and share nothing with each other."""

from collections.abc import Callable

import numpy as np

from rota.errors import InputError

__all__: list[str] = []

_SHARED = 2**31  # marks the stream that the heads of a layer share; no path of parts is that long

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
            entropy = np.random.SeedSequence([seed, layer], spawn_key=(*path, _SHARED))
        else:
            entropy = np.random.SeedSequence([seed, layer, head], spawn_key=path)
        return np.random.Generator(np.random.PCG64(entropy))

    return generator
