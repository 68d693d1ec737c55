"""What the fast path is held against, slow and obvious: phases in fractions, rotations as matrices."""

import math
from fractions import Fraction

import torch
from torch import Tensor

__all__ = [
    "lattice_turns_reference",
    "real_turns_reference",
    "rotate_gathered_reference",
    "rotate_reference",
    "rotation_matrix",
]


def lattice_turns_reference(time: Tensor, harmonic: Tensor, period: Tensor | int) -> Tensor:
    """`lattice_turns` in Python's fractions; float64, rounded once from the exact value."""
    arguments = torch.broadcast_tensors(time, harmonic, torch.as_tensor(period))
    rows = zip(*(argument.flatten().tolist() for argument in arguments), strict=True)
    turns = [_centred(Fraction(k * t, whole)) for t, k, whole in rows]
    return torch.tensor(turns, dtype=torch.float64).view(arguments[0].shape)


def real_turns_reference(time: Tensor, cycles_per_second: Tensor, ticks_per_second: int = 1) -> Tensor:
    """`real_turns` in Python's fractions, of which every float is one; rounded once from the exact value."""
    arguments = torch.broadcast_tensors(time, cycles_per_second)
    rows = zip(*(argument.flatten().tolist() for argument in arguments), strict=True)
    turns = [_centred(Fraction(t, ticks_per_second) * Fraction(cycles)) for t, cycles in rows]
    return torch.tensor(turns, dtype=torch.float64).view(arguments[0].shape)


def _centred(turns: Fraction) -> float:
    """The same point of the circle in ``[-1/2, 1/2)``."""
    half = Fraction(1, 2)
    return float((turns + half) % 1 - half)


def rotation_matrix(turns: Tensor, features: int, layout: str = "interleaved") -> Tensor:
    """The block-diagonal matrix of a rotation, float64, shape ``(..., features, features)``."""
    pairs = turns.shape[-1]
    still = torch.ones(features, dtype=torch.float64)
    still[: 2 * pairs] = 0
    matrix = torch.diag(still)
    for j in range(pairs):
        first, second = (2 * j, 2 * j + 1) if layout == "interleaved" else (j, pairs + j)
        keep, quarter = torch.zeros(2, features, features, dtype=torch.float64)
        keep[first, first] = keep[second, second] = 1
        quarter[second, first], quarter[first, second] = 1, -1
        angle = 2 * math.pi * turns[..., j, None, None].double()
        matrix = matrix + angle.cos() * keep + angle.sin() * quarter
    return matrix


def rotate_reference(x: Tensor, turns: Tensor, layout: str = "interleaved") -> Tensor:
    """`rotate` by one matrix for each vector of features, shapes as there; float64."""
    return (rotation_matrix(turns, x.shape[-1], layout) @ x.double()[..., None])[..., 0]


def rotate_gathered_reference(x: Tensor, turns: Tensor, index: Tensor) -> Tensor:
    """`rotate_gathered` by the turns of each token, shape ``(batch, length, distinct)``; float64."""
    return rotate_reference(x, turns[:, :, index].transpose(1, 2))
