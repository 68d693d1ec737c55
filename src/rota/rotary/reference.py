"""The rotation, slow and obvious: 2x2 matrices in float64. What the fast path is held against."""

import math

import torch
from torch import Tensor


def rotate_reference(x: Tensor, turns: Tensor, layout: str = "interleaved") -> Tensor:
    """`rotate` by one 2x2 matrix for each pair, in float64, shapes as there; the result is float64."""
    pairs = turns.shape[-1]
    out = x.double().clone().expand(torch.broadcast_shapes(x.shape, (*turns.shape[:-1], x.shape[-1]))).clone()
    for j in range(pairs):
        at = [2 * j, 2 * j + 1] if layout == "interleaved" else [j, pairs + j]
        angle = 2 * math.pi * turns[..., j].double()
        matrix = torch.stack((angle.cos(), -angle.sin(), angle.sin(), angle.cos()), -1).unflatten(-1, (2, 2))
        out[..., at] = (matrix @ x[..., at].double()[..., None])[..., 0]
    return out
