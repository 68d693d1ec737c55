"""Sums of values weighted by the SiLU of causal logits, a block of queries at a time."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import silu

__all__: list[str] = []


def silu_sums(
    q: Float[Tensor, "batch heads length qk_dim"],
    k: Float[Tensor, "batch heads length qk_dim"],
    v: Float[Tensor, "batch heads length value_dim"],
    bias: Float[Tensor, "#batch #heads length length"] | None,
    block: int,
) -> Float[Tensor, "batch heads length value_dim"]:
    """``sum_{j <= i} SiLU(q_i k_j + bias_ij) v_j`` for every query ``i``.

    No pair that a query must not see is computed but within its block, and nothing of a pair is kept but the
    bias: backward computes a block again. Logits are float32 or better, whatever the features are.

    Args:
        q: Queries.
        k: Keys.
        v: Values.
        bias: Of each pair.
        block: Queries computed at a time.
    """
    sums: Tensor = _SiluSums.apply(q.contiguous(), k.contiguous(), v.contiguous(), bias, block)  # type: ignore[no-untyped-call]
    return sums


def _logits(q: Tensor, k: Tensor, bias: Tensor | None, start: int, stop: int) -> Tensor:
    """Of the queries of a block and the keys up to its end."""
    logits = q[:, :, start:stop] @ k[:, :, :stop].mT
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return logits if bias is None else logits.add_(bias[..., start:stop, :stop])


def _blocks(length: int, block: int) -> list[tuple[int, int]]:
    return [(start, min(start + block, length)) for start in range(0, length, block)]


class _SiluSums(torch.autograd.Function):
    """The sums, and by hand their derivative: with ``z`` the logits, ``d SiLU(z) = silu_backward(., z)``."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, block: int) -> Tensor:
        ctx.save_for_backward(q, k, v, bias)
        ctx.block = block
        sums = torch.empty_like(v)
        with torch.autocast(q.device.type, enabled=False):
            for start, stop in _blocks(q.shape[2], block):
                weights = silu(_logits(q, k, bias, start, stop), inplace=True).tril_(start)
                sums[:, :, start:stop] = weights.to(v.dtype) @ v[:, :, :stop]
        return sums

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, bias = ctx.saved_tensors
        wide = torch.promote_types(q.dtype, torch.float32)  # parts of many blocks are added up
        of_q, of_k, of_v = (
            torch.empty_like(q),
            torch.zeros_like(k, dtype=wide),
            torch.zeros_like(v, dtype=wide),
        )
        of_bias = torch.zeros_like(bias) if ctx.needs_input_grad[3] else None
        for start, stop in _blocks(q.shape[2], ctx.block):
            given, logits = grad[:, :, start:stop], _logits(q, k, bias, start, stop)
            of_weights = (given @ v[:, :, :stop].mT).to(logits.dtype).tril_(start)
            of_logits = torch.ops.aten.silu_backward(of_weights, logits)
            weights = silu(logits, inplace=True).tril_(start).to(v.dtype)
            of_v[:, :, :stop] += weights.mT @ given
            if of_bias is not None:
                part = of_bias[..., start:stop, :stop]
                part.copy_(of_logits.sum_to_size(part.shape))
            of_logits = of_logits.to(q.dtype)
            of_q[:, :, start:stop] = of_logits @ k[:, :, :stop]
            of_k[:, :, :stop] += of_logits.mT @ q[:, :, start:stop]
        return of_q, of_k.to(k.dtype), of_v.to(v.dtype), of_bias, None
