"""The rotation and its derivatives: a fixed phase keeps no activation, a learnable one its output alone."""

from typing import Any

import torch
from torch import Tensor

from rota.rotary import native
from rota.rotary.batching import is_mapped, is_mapped_by_autograd, leading
from rota.rotary.blocks import blocks
from rota.rotary.layouts import beginning, pair_views
from rota.rotary.points import TURN, unit_points
from rota.rotary.products import as_complex, differentiable_product, product

__all__: list[str] = []


def rotated(x: Tensor, turns: Tensor, layout: str) -> Tensor:
    """Rotate in eager mode; differentiable in features and turns."""
    if is_mapped_by_autograd(x):
        return differentiable_product(x, unit_points(turns, x.dtype), layout)
    points = unit_points(turns.detach(), x.dtype)
    out: Tensor = _Rotated.apply(x, turns, points, layout)  # type: ignore[no-untyped-call]
    return out


def rotated_by(x: Tensor, points: Tensor, layout: str) -> Tensor:
    """Rotate in eager mode by complex points, which are constants; differentiable in features."""
    if is_mapped_by_autograd(x):
        return differentiable_product(x, points, layout)
    out: Tensor = _Rotated.apply(x, None, points, layout)  # type: ignore[no-untyped-call]
    return out


class _Rotated(torch.autograd.Function):
    """Backward rotates the gradient back; forward-mode derivatives are refused by PyTorch.

    It can be differentiated again: where the graph of backward is recorded, it is made of rotations that are
    functions of ``turns``, and not of the points that were kept to save their cosines.
    """

    @staticmethod
    def forward(x: Tensor, turns: Tensor | None, points: Tensor, layout: str) -> Tensor:
        return product(x, points, layout)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, turns, points, ctx.layout = inputs
        ctx.save_for_backward(turns, points, output if ctx.needs_input_grad[1] else None)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        turns, points, output = ctx.saved_tensors
        for_x, for_turns, *_ = ctx.needs_input_grad
        if for_x and for_turns and (both := _both(output, grad, points, turns, ctx.layout)) is not None:
            return *both, None, None
        by_turns = _phase_gradient(output, grad, turns, ctx.layout) if for_turns else None
        if not for_x:
            return None, by_turns, None, None
        if turns is not None and torch.is_grad_enabled():
            return rotated(grad, -turns, ctx.layout), by_turns, None, None
        return rotated_by(grad, points.conj().resolve_conj(), ctx.layout), by_turns, None, None

    @staticmethod
    def vmap(
        info: Any,
        in_dims: tuple[int | None, ...],
        x: Tensor,
        turns: Tensor | None,
        points: Tensor,
        layout: str,
    ) -> tuple[Tensor, int]:
        x_dim, turns_dim, points_dim, _ = in_dims
        rank = x.ndim - (x_dim is not None)
        if x_dim is None:
            x, x_dim = x.expand(info.batch_size, *x.shape), 0
        turns = leading(turns, turns_dim, rank)
        points = leading(points, points_dim, rank)
        return _Rotated.apply(x.movedim(x_dim, 0), turns, points, layout), 0  # type: ignore[no-untyped-call]


def _both(
    output: Tensor, grad: Tensor, points: Tensor, turns: Tensor, layout: str
) -> tuple[Tensor, Tensor] | None:
    """Gradients of features and turns in one pass, which reads ``grad`` once; ``None`` if there is none."""
    if layout == "half" or torch.is_grad_enabled() or is_mapped(output, grad, turns):
        return None
    both = native.turn_back(output, grad, points)
    return None if both is None else (both[0], both[1].to(turns.dtype))


def _phase_gradient(output: Tensor, grad: Tensor, turns: Tensor, layout: str) -> Tensor:
    """Gradient of the turns: each rotated pair a quarter turn on, times the gradient that comes in.

    T-RoPE's Algorithm 3, but from the output instead of the input: 6 instead of 18 operations a pair. It is
    summed in float32, or float64 for float64 features, over the heads and whatever else shares the turns.
    """
    pairs, wide = turns.shape[-1], torch.float64 if output.dtype == torch.float64 else torch.float32
    output, grad = beginning(output, 2 * pairs), beginning(grad, 2 * pairs)
    if torch.is_grad_enabled() or is_mapped(output, grad, turns):  # then out of place, and all at once
        by_angle = _across(output, grad, layout, wide).sum_to_size(turns.shape)
    else:
        if layout != "half" and (found := native.phase_gradient(output, grad, turns.shape)) is not None:
            return found.to(turns.dtype)
        by_angle = torch.zeros(turns.shape, dtype=wide, device=turns.device)
        for output_block, grad_block, sum_block in blocks(output, grad, by_angle):
            sum_block += _across(output_block, grad_block, layout, wide).sum_to_size(sum_block.shape)
    return (by_angle * TURN).to(turns.dtype)


def _across(output: Tensor, grad: Tensor, layout: str, wide: torch.dtype) -> Tensor:
    """How far the gradient of each pair points to where the pair would turn."""
    output, grad = output.to(wide), grad.to(wide)
    if layout == "interleaved" and not is_mapped_by_autograd(grad):
        # Not conj_physical, for which torch.vmap has no rule.
        product_ = as_complex(grad).conj().resolve_conj().mul_(as_complex(output))
        return -product_.imag
    (first, second), (by_first, by_second) = pair_views(output, layout), pair_views(grad, layout)
    return torch.addcmul(first * by_second, second, by_first, value=-1)
