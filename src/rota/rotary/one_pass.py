"""Turns of real frequencies by one compiled pass over memory, differentiable in the frequencies."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from rota.rotary import native

__all__: list[str] = []


def turns_in_one_pass(time: Tensor, cycles: Tensor, ticks_per_second: int) -> Tensor | None:
    """What `phase.real_turns` gives, bit for bit; ``None`` where PyTorch's own operations must.

    Those are left with what is differentiated forward, too.
    """
    turns = native.real_turns(time, cycles.detach(), ticks_per_second)
    if turns is None or forward_ad.unpack_dual(cycles).tangent is not None:
        return None
    if not (cycles.requires_grad and torch.is_grad_enabled()):
        return turns
    out: Tensor = _Known.apply(cycles, (turns,), time, ticks_per_second)  # type: ignore[no-untyped-call]
    return out


class _Known(torch.autograd.Function):
    """Turns that are known already, as a function of the frequencies, in which they are linear.

    They come in a tuple, which PyTorch does not look into: it would take the output for a view of theirs.
    """

    @staticmethod
    def forward(cycles: Tensor, turns: tuple[Tensor], time: Tensor, ticks_per_second: int) -> Tensor:
        return turns[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        cycles, _, time, ctx.ticks_per_second = inputs
        ctx.save_for_backward(time)
        ctx.shape = cycles.shape

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        (time,) = ctx.saved_tensors
        shared = len(ctx.shape) < 2 or ctx.shape[-2] == 1  # by the tokens of a row
        sums = None
        if shared and not torch.is_grad_enabled():
            sums = native.sum_by_time(grad, time, ctx.ticks_per_second)
        if sums is None:
            sums = grad.double() * (time.double() / ctx.ticks_per_second)
        return sums.sum_to_size(ctx.shape), None, None, None
