"""Attention weights of a block of queries, by intervals: no vector is formed for a pair."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from rota.attention.interval_lengths import relative_intervals

__all__: list[str] = []


class Parts(NamedTuple):
    """What a block of queries is computed from; heads second, but for times and mask."""

    q: Tensor
    k: Tensor
    v: Tensor
    interval_keys: Tensor
    interval_values: Tensor
    query_time: Tensor
    key_time: Tensor
    scale: Tensor
    mask: Tensor | None


def weights_and_intervals(parts: Parts, start: int, stop: int) -> tuple[Tensor, Tensor]:
    """Attention of the queries of a block over the keys up to its end, and the interval of each pair.

    Shapes ``(batch, heads, stop - start, stop)``. Logits and sums over an interval are float32 or better:
    many small parts add up.
    """
    q, k = parts.q[:, :, start:stop], parts.k[:, :, :stop]
    intervals = relative_intervals(
        parts.query_time[:, start:stop],
        parts.key_time[:, :stop],
        parts.scale[:, start:stop],
        parts.interval_keys.shape[-2] - 1,
    )
    intervals = intervals.unsqueeze(1).expand(-1, q.shape[1], -1, -1)
    wide = torch.promote_types(q.dtype, torch.float32)
    by_interval = (q @ parts.interval_keys.mT).to(wide).gather(-1, intervals)
    logits = ((q @ k.mT).to(wide) + by_interval) / math.sqrt(q.shape[-1])
    return logits.masked_fill(_hidden(parts.mask, start, stop, q.device), -math.inf).softmax(-1), intervals


def _hidden(mask: Tensor | None, start: int, stop: int, device: torch.device) -> Tensor:
    """What a query must not see: what comes later, and padding, but for itself, so that none sees nothing."""
    at = torch.arange(stop, device=device)
    ahead = at > at[start:, None]
    if mask is None:
        return ahead
    padding = ~mask[:, None, None, :stop] & (at != at[start:, None])
    return ahead | padding
