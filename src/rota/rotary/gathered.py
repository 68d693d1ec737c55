"""Rotation by few distinct phases: their points are computed once a token, and gathered by every pair."""

from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from rota.errors import InputError
from rota.rotary import native
from rota.rotary.batching import is_mapped_by_autograd, leading
from rota.rotary.blocks import blocks
from rota.rotary.kinds import require_floats, require_int64, require_tensor
from rota.rotary.layouts import unpaired
from rota.rotary.products import as_complex, differentiable_product, needs_no_copy, write_interleaved

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
        InputError: Shapes do not match, or features are no floats.
    """
    require_floats("features", x)
    if require_tensor("points", points).ndim != 4 - points.is_complex():
        raise InputError(
            f"points of shape {tuple(points.shape)}: expected (batch, length, distinct) of unit_points"
        )
    if require_int64("index", index).ndim != 2:
        raise InputError(f"index of shape {tuple(index.shape)}: expected (heads, pairs)")
    heads, pairs = index.shape
    if x.shape != (points.shape[0], heads, points.shape[1], 2 * pairs):
        raise InputError(
            f"features of shape {tuple(x.shape)}: points of shape {tuple(points.shape)} and an index of "
            f"{tuple(index.shape)} turn those of {(points.shape[0], heads, points.shape[1], 2 * pairs)}"
        )
    if points.is_complex() and not points.requires_grad:
        return _fixed(x, points, index)
    if not _kept_for_backward():
        return _out_of_place(x, points, index)
    # A compiler would keep the gathered points for backward, twice the size of the features.
    again: Tensor = checkpoint(_out_of_place, x, points, index, use_reentrant=False, preserve_rng_state=False)
    return again


def _fixed(x: Tensor, points: Tensor, index: Tensor) -> Tensor:
    """Rotate in eager mode by points that are constants; differentiable in features."""
    if is_mapped_by_autograd(x):
        return _out_of_place(x, points, index)
    turned: Tensor = _InPlace.apply(x, points, index)  # type: ignore[no-untyped-call]
    return turned


def _kept_for_backward() -> bool:
    """Whether a compiler takes the rotation apart for training; torch.func has no checkpoints."""
    return (
        torch.compiler.is_compiling()
        and not torch.compiler.is_exporting()
        and torch.is_grad_enabled()
        and not torch._C._are_functorch_transforms_active()
    )


def _out_of_place(x: Tensor, points: Tensor, index: Tensor) -> Tensor:
    return differentiable_product(x, _gather(points, index).transpose(1, 2), "interleaved")


def _gather(points: Tensor, index: Tensor) -> Tensor:
    """Points by token, head and pair. gather, since index_select is many times slower along a last axis."""
    batch, length, _, *parts = points.shape
    wanted = index.view(1, 1, -1, *(1 for _ in parts)).expand(batch, length, -1, *parts)
    return points.gather(2, wanted).view(batch, length, *index.shape, *parts)


class _InPlace(torch.autograd.Function):
    """Nothing is kept for backward but the few points.

    Where numba cannot turn the pairs in one pass, the product takes the gathered points' memory. bfloat16 and
    misaligned features need scratch memory: they are turned block by block.

    Backward rotates by the conjugate points, which it gathers again: cheaper than keeping them. It is such a
    rotation itself, so it can be differentiated any number of times.
    """

    @staticmethod
    def forward(x: Tensor, points: Tensor, index: Tensor) -> Tensor:
        table = points.to(torch.promote_types(x.dtype, points.real.dtype).to_complex())
        if (turned := native.turn_gathered(x, table, index)) is not None:
            return turned
        by_token = x.transpose(1, 2)
        if needs_no_copy(by_token, table, by_token):
            gathered = _gather(table, index)
            torch.mul(as_complex(by_token), gathered, out=gathered)
            return unpaired(torch.view_as_real(gathered)).transpose(1, 2)
        out = torch.empty(by_token.shape, dtype=x.dtype, device=x.device)  # a token's heads side by side
        for x_part, out_part, table_part, index_part in blocks(by_token, out, table[:, :, None], index):
            write_interleaved(x_part, _gather(table_part.squeeze(2), index_part), out_part)
        return out.transpose(1, 2)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        _, points, index = inputs
        ctx.save_for_backward(points, index)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        points, index = ctx.saved_tensors
        return _fixed(grad, points.conj().resolve_conj(), index), None, None

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
