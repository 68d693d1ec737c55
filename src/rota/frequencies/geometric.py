"""Geometric ladders: classic RoPE's frequencies, and T-RoPE's bank of time scales."""

import numpy as np

from rota.errors import InputError
from rota.types import Float64Array


def rope_ladder(head_dim: int, base: float = 10_000.0) -> Float64Array:
    """RoPE's ``base^(-2j / head_dim) / (2 pi)`` in cycles per position, shape ``(head_dim / 2,)``.

    Raises:
        InputError: The base is not above 1.
    """
    if not base > 1:
        raise InputError(f"RoPE base {base}: expected a number above 1")
    return base ** (-np.arange(0, head_dim, 2) / head_dim) / (2 * np.pi)


def geometric_bank(pairs: int, shortest: float, longest: float) -> Float64Array:
    """T-RoPE's time scales beta in seconds, geometric from shortest to longest (Eq. 5), shape ``(pairs,)``.

    With a single pair it is the shortest.

    Raises:
        InputError: The scales are not ``0 < shortest <= longest``.
    """
    if not 0 < shortest <= longest:
        raise InputError(f"bank from {shortest} s to {longest} s: expected 0 < shortest <= longest")
    return np.geomspace(shortest, longest, pairs)
