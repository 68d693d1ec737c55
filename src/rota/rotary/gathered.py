"""Rotation by few distinct phases: their points are computed once a token, and gathered by every pair."""

from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from rota.errors import InputError
from rota.rotary.batching import leading
from rota.rotary.products import as_complex, differentiable_product

__all__ = ["rotate_gathered"]


def rotate_gathered(
    x: Float[Tensor, "batch heads length features"], points: Tensor, index: Int64[Tensor, "heads pairs"]
) -> Float[Tensor, "batch heads length features"]:
    """Rotate interleaved pairs of every head by those of a token's points that belong to them.

    Args:
        x: Features, shape ``(batch, heads, length, 2 * pairs)``.
        points: Points of `unit_points` at each token's distinct phases, complex, shape
            ``(batch, length, distinct)``; under a compiler real, with a last axis ``(cos, sin)``.
        index: Which of the distinct phases each pair of each head turns by, shape ``(heads, pairs)``.

    Raises:
        InputError: Shapes do not match.
    """
    heads, pairs = index.shape
    if x.shape != (points.shape[0], heads, points.shape[1], 2 * pairs):
        raise InputError(
            f"features of shape {tuple(x.shape)}: points of shape {tuple(points.shape)} and an index of "
            f"{tuple(index.shape)} turn those of {(points.shape[0], heads, points.shape[1], 2 * pairs)}"
        )
    if points.is_complex() and not points.requires_grad:
        turned: Tensor = _InPlace.apply(x, points, index)  # type: ignore[no-untyped-call]
        return turned
    return differentiable_product(x, _gather(points, index), "interleaved")


def _gather(points: Tensor, index: Tensor) -> Tensor:
    """Points by head, token and pair. gather, since index_select is many times slower along a last axis."""
    batch, length, _, *parts = points.shape
    wanted = index.view(1, 1, -1, *(1 for _ in parts)).expand(batch, length, -1, *parts)
    gathered: Tensor = points.gather(2, wanted).unflatten(2, tuple(index.shape)).transpose(1, 2)
    return gathered


class _InPlace(torch.autograd.Function):
    """The product takes the gathered points' memory, and nothing is kept for backward but the few points.

    Backward rotates by the conjugate points, which it gathers again: cheaper than keeping them. It is such a
    rotation itself, so it can be differentiated any number of times.
    """

    @staticmethod
    def forward(x: Tensor, points: Tensor, index: Tensor) -> Tensor:
        wide = torch.promote_types(x.dtype, points.real.dtype)  # float32 at least, and rounded once
        gathered = _gather(points.to(wide.to_complex()), index)
        torch.mul(as_complex(x.to(wide)), gathered, out=gathered)
        return torch.view_as_real(gathered).flatten(-2).to(x.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        _, points, index = inputs
        ctx.save_for_backward(points, index)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        points, index = ctx.saved_tensors
        back: Tensor = _InPlace.apply(grad, points.conj().resolve_conj(), index)  # type: ignore[no-untyped-call]
        return back, None, None

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], x: Tensor, points: Tensor, index: Tensor
    ) -> tuple[Tensor, int]:
        """Fold the mapped axis into the batch."""
        if in_dims[2] is not None:
            raise InputError("index differs along the mapped axis of vmap: expected the same for all")
        x, points = (
            tensor.expand(info.batch_size, *tensor.shape) if dim is None else leading(tensor, dim, rank)
            for tensor, dim, rank in ((x, in_dims[0], 4), (points, in_dims[1], 3))
        )
        turned: Tensor = _InPlace.apply(x.flatten(0, 1), points.flatten(0, 1), index)  # type: ignore[no-untyped-call]
        return turned.unflatten(0, (info.batch_size, -1)), 0
