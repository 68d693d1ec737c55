"""Rotation by few distinct phases: their points are computed once a token, and gathered by every pair."""

from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.autograd.function import once_differentiable

from rota.rotary.apply import as_complex, rotate_by


def rotate_gathered(
    x: Float[Tensor, "batch heads length features"], points: Tensor, index: Int64[Tensor, "heads pairs"]
) -> Float[Tensor, "batch heads length features"]:
    """Rotate interleaved pairs of every head by those of a token's points that belong to them.

    Args:
        x: Features, shape ``(batch, heads, length, 2 * pairs)``.
        points: Points of `unit_points` at each token's distinct phases, complex, shape
            ``(batch, length, distinct)``; under a compiler real, with a last axis ``(cos, sin)``.
        index: Which of the distinct phases each pair of each head turns by, shape ``(heads, pairs)``.
    """
    if points.is_complex() and x.dtype in (torch.float32, torch.float64):
        turned: Tensor = _InPlace.apply(x, points, index)  # type: ignore[no-untyped-call]
        return turned
    return rotate_by(x, _gather(points, index))


def _gather(points: Tensor, index: Tensor) -> Tensor:
    """Points by head, token and pair. gather, since index_select is many times slower along a last axis."""
    batch, length, _, *parts = points.shape
    wanted = index.view(1, 1, -1, *(1 for _ in parts)).expand(batch, length, -1, *parts)
    gathered: Tensor = points.gather(2, wanted).unflatten(2, tuple(index.shape)).transpose(1, 2)
    return gathered


class _InPlace(torch.autograd.Function):
    """The product takes the gathered points' memory, and nothing is kept for backward but the few points.

    Backward rotates by the conjugate points, which it gathers again: cheaper than keeping them. It cannot be
    differentiated once more, and says so.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, points: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(points, index)
        return _turn(x, points, index)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        points, index = ctx.saved_tensors
        return _turn(grad, points.conj().resolve_conj(), index), None, None


def _turn(x: Tensor, points: Tensor, index: Tensor) -> Tensor:
    gathered = _gather(points, index)
    torch.mul(as_complex(x), gathered, out=gathered)
    return torch.view_as_real(gathered).flatten(-2)
