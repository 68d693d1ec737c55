"""Gaps between events in units of a user's own smallest gap, TiSASRec's relative time intervals."""

import torch
from jaxtyping import Int64
from torch import Tensor

_UNKNOWN = 2**63 - 1  # the scale before there is one: every gap is 0 of it


def smallest_gaps(key_time: Int64[Tensor, "batch length"]) -> Int64[Tensor, "batch length"]:
    """Smallest gap between neighbouring events that differ, up to each event, in clock ticks.

    It is TiSASRec's ``r_min^u`` of the history as it is seen at each event. Nothing that comes later is in
    it: not a user's validation and test events, which are in the published code's, and not the rest of the
    row. The last column is the constant of the whole row.

    Padding that repeats a time adds no gap. Before two events differ there is no scale: the largest int64.

    Args:
        key_time: Times of events, oldest first, in clock ticks.
    """
    gap = key_time.diff(prepend=key_time[:, :1]).abs()
    return gap.masked_fill(gap == 0, _UNKNOWN).cummin(-1).values


def relative_intervals(
    query_time: Int64[Tensor, "batch query"],
    key_time: Int64[Tensor, "batch key"],
    scale: Int64[Tensor, "batch query"],
    num_intervals: int,
) -> Int64[Tensor, "batch query key"]:
    """``min(floor(|t_query - t_key| / scale), num_intervals)`` of each pair, in whole numbers.

    It is TiSASRec's ``r_ij`` (Li et al. 2020). The published code rounds each time to units of the
    scale and then takes differences, at most one off.

    Args:
        query_time: Time at which each position asks, in clock ticks.
        key_time: Time of each event, in clock ticks.
        scale: Of each query, for instance `smallest_gaps`, in clock ticks, at least 1.
        num_intervals: Longer intervals are taken for this one.
    """
    gap = (query_time[:, :, None] - key_time[:, None, :]).abs_()
    return torch.div(gap, scale[:, :, None], rounding_mode="floor").clamp_(max=num_intervals)
