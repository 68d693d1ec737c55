"""The rotation and its derivatives: a fixed phase keeps no activation, a learnable one its output alone."""

from typing import Any

import torch
from torch import Tensor

from rota.rotary.batching import leading
from rota.rotary.layouts import pair_views
from rota.rotary.points import TURN, unit_points
from rota.rotary.products import as_complex, product

__all__: list[str] = []


def rotated(x: Tensor, turns: Tensor, layout: str) -> Tensor:
    """Rotate in eager mode; differentiable in features and turns."""
    points = unit_points(turns.detach(), x.dtype)
    out: Tensor = _Rotated.apply(x, turns, points, layout)  # type: ignore[no-untyped-call]
    return out


def rotated_by(x: Tensor, points: Tensor, layout: str) -> Tensor:
    """Rotate in eager mode by complex points, which are constants; differentiable in features."""
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


def _phase_gradient(output: Tensor, grad: Tensor, turns: Tensor, layout: str) -> Tensor:
    """Gradient of the turns: each rotated pair a quarter turn on, times the gradient that comes in.

    T-RoPE's Algorithm 3, but from the output instead of the input: 6 instead of 18 operations a pair. It is
    summed in float32, or float64 for float64 features, over the heads and whatever else shares the turns.
    """
    wide = torch.float64 if output.dtype == torch.float64 else torch.float32
    output, grad = (part[..., : 2 * turns.shape[-1]].to(wide) for part in (output, grad))
    if layout == "interleaved":
        # Not conj_physical, for which torch.vmap has no rule.
        across = as_complex(grad).conj().resolve_conj().mul_(as_complex(output))
        by_angle = -across.sum_to_size(turns.shape).imag
    else:
        (first, second), (by_first, by_second) = pair_views(output, layout), pair_views(grad, layout)
        by_angle = torch.addcmul(first * by_second, second, by_first, value=-1).sum_to_size(turns.shape)
    return (by_angle * TURN).to(turns.dtype)
