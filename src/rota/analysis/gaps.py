"""Attention by time gap: how much a model looks at events of a given age, against uniform attention."""

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from rota.analysis.curves import AttentionByGap
from rota.batch import Batch
from rota.errors import InputError
from rota.types import BoolArray, Float64Array, Int64Array
from rota.units import ticks_per_second

_SUM_TOLERANCE = 1e-2  # bfloat16 probabilities keep their sum to this; dropped or leaking attention does not


@runtime_checkable
class AttentionReader(Protocol):
    """Whatever shows its attention: a model in evaluation mode, with an explicit softmax."""

    def attention(self, batch: Batch) -> list[Float[Tensor, "batch heads query key"]]:
        """Softmax probabilities of each query over the keys it can see, one tensor a layer.

        Causal: query ``i`` sees keys ``0..i``; zero elsewhere. Rows in the padding may hold anything.
        """
        ...


def attention_by_gap(
    reader: AttentionReader,
    batches: Iterable[Batch],
    *,
    unit: str,
    hours: float = 168.0,
    bins_per_hour: int = 2,
) -> AttentionByGap:
    """Average attention over all pairs of an event's query and a key it can see, by their gap in time.

    The gap is the query's time minus the key's, exact in clock ticks. Bins are *centred* on 0, 1, 2, ...
    steps of ``1 / bins_per_hour`` hours up to ``hours``, so that a gap of exactly 24 h falls in the middle of
    a bin and not on an edge. Negative gaps and gaps beyond the last bin are ignored, so the first bin holds
    only its upper half. Heads and layers count equally. Memory is bounded by one batch.

    Args:
        reader: Model in evaluation mode.
        batches: Batches with times.
        unit: Unit of the batches' times: s, ms, us or ns.
        hours: Centre of the last bin.
        bins_per_hour: Bins an hour.

    Raises:
        InputError: A batch has no times, the bins are impossible, or what the reader shows are not
            probabilities over the visible keys.
    """
    edges = _edges(hours, bins_per_hour)
    hour, bins = 3600 * ticks_per_second(unit), len(edges) - 1
    total, pairs = np.zeros(bins), np.zeros(bins, dtype=np.int64)
    for batch in batches:
        gap, relative = _visible_pairs(reader, batch)
        index, inside = _bin(gap, hour, bins_per_hour, bins)
        total += np.bincount(index, weights=relative[inside], minlength=bins)
        pairs += np.bincount(index, minlength=bins)
    mean = np.divide(total, pairs, out=np.full(bins, np.nan), where=pairs > 0)
    return AttentionByGap(edges, mean, pairs)


def _edges(hours: float, bins_per_hour: int) -> Float64Array:
    steps = hours * bins_per_hour
    if bins_per_hour < 1 or not (np.isfinite(steps) and steps > 0 and steps == round(steps)):
        raise InputError(
            f"gaps up to {hours!r} h in {bins_per_hour!r} bins an hour: expected a whole number of bins"
        )
    edges: Float64Array = (np.arange(round(steps) + 2, dtype=np.float64) - 0.5) / bins_per_hour
    return edges


def _visible_pairs(reader: AttentionReader, batch: Batch) -> tuple[Int64Array, Float64Array]:
    """Gap in ticks and relative attention of every pair of an event's query and a key that it sees."""
    if batch.query_time is None or batch.key_time is None:
        raise InputError("attention by gap: the batch has no times; use time access 'history' or 'request'")
    with torch.no_grad():
        layers = [layer.cpu().double().mean(dim=1) for layer in reader.attention(batch)]
    probability = torch.stack(layers).mean(dim=0)
    valid = batch.mask.cpu()
    visible = torch.tril(valid[:, :, None] & valid[:, None, :])
    _check(probability, visible, type(reader).__name__)
    relative = probability * visible.sum(dim=2, keepdim=True)
    gap = batch.query_time.cpu()[:, :, None] - batch.key_time.cpu()[:, None, :]
    return gap[visible].numpy(), relative[visible].numpy()


def _check(probability: Tensor, visible: Tensor, reader: str) -> None:
    """Refuse what would make 'relative to uniform' meaningless: dropout left on, a leak, no softmax."""
    sums = probability.where(visible, 0.0).sum(dim=2)[visible.any(dim=2)]
    off = (sums - 1.0).abs()
    if not bool((off <= _SUM_TOLERANCE).all()):
        worst = float(sums[off.nan_to_num(torch.inf).argmax()])
        raise InputError(
            f"attention of {reader} sums to {worst:.4g} over the keys that a query can see: expected softmax "
            "probabilities; call eval() and mask future and padding"
        )


def _bin(gap: Int64Array, hour: int, bins_per_hour: int, bins: int) -> tuple[Int64Array, BoolArray]:
    """Bin of each gap inside the range, and which gaps those are; integers throughout, so edges are exact."""
    beyond = -(
        -hour * (2 * bins - 1) // (2 * bins_per_hour)
    )  # first tick outside; also keeps the product small
    inside = (gap >= 0) & (gap < beyond)
    return (2 * bins_per_hour * gap[inside] + hour) // (2 * hour), inside
