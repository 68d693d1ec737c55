"""Batch: what a model eats, and the one switch that says who sees the request time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from rota.choice import Choice
from rota.histories import Histories, Spans
from rota.types import Int64Array


class TimeAccess(Choice):
    """What a model may know of the clock, the same for every arm, in training, evaluation and serving.

    Attributes:
        NONE: No clock at all; an encoding that needs one is refused.
        HISTORY: A query stands at its own event's time.
        REQUEST: A query stands at the time of the event to be predicted, which serving knows as now.
    """

    NONE = "none"
    HISTORY = "history"
    REQUEST = "request"


@dataclass(frozen=True)
class Batch:
    """Histories of some users, oldest event first, padded on the right.

    Attributes:
        items: Item codes, shape ``(batch, length)``; 0 in the padding, which ``lengths`` tells apart.
        key_time: Time of each event in clock ticks, shape ``(batch, length)``; ``None`` without a clock.
            Padding repeats the row's last valid time.
        query_time: Time at which each position asks for the next item, same shape and unit; see `TimeAccess`.
            Where a query stands at its own event's time it is ``key_time`` itself, the same tensor: by that
            a rotation sees that queries and keys share their phases.
        lengths: Number of events of each row, at least 1, shape ``(batch,)``.
    """

    items: Int64[Tensor, "batch length"]
    key_time: Int64[Tensor, "batch length"] | None
    query_time: Int64[Tensor, "batch length"] | None
    lengths: Int64[Tensor, " batch"]

    def to(self, device: torch.device | str) -> "Batch":
        """Copy on another device."""

        def move(tensor: Tensor) -> Tensor:
            return tensor.to(device, non_blocking=True)

        key_time = None if self.key_time is None else move(self.key_time)
        if self.query_time is self.key_time:
            query_time = key_time  # still one tensor
        else:
            query_time = None if self.query_time is None else move(self.query_time)
        return Batch(move(self.items), key_time, query_time, move(self.lengths))

    @property
    def mask(self) -> Tensor:
        """True at events, False in the padding; boolean, shape ``(batch, length)``."""
        positions = torch.arange(self.items.shape[1], device=self.items.device)
        return positions < self.lengths[:, None]


@dataclass(frozen=True)
class Window:
    """One row of a batch before padding.

    Attributes:
        items: Item codes, oldest first.
        times: Their times in clock ticks.
        query_times: Time at which each position asks; the last is the request time.
    """

    items: Int64Array
    times: Int64Array
    query_times: Int64Array


def collate(windows: Sequence[Window], access: TimeAccess | str) -> Batch:
    """Pad windows on the right into one batch.

    Raises:
        InputError: There is no such time access.
    """
    access = TimeAccess.parse(access)
    lengths = np.array([len(window.items) for window in windows], dtype=np.int64)
    items = _pad([window.items for window in windows], lengths, edge=False)
    key_time = query_time = None
    if access != TimeAccess.NONE:
        key_time = query_time = torch.from_numpy(
            _pad([window.times for window in windows], lengths, edge=True)
        )
    if access == TimeAccess.REQUEST:
        asked = [window.query_times for window in windows]
        query_time = torch.from_numpy(_pad(asked, lengths, edge=True))
    return Batch(torch.from_numpy(items), key_time, query_time, torch.from_numpy(lengths))


def _pad(rows: Sequence[Int64Array], lengths: Int64Array, *, edge: bool) -> Int64Array:
    padded = np.zeros((len(rows), lengths.max()), dtype=np.int64)
    for out, row, length in zip(padded, rows, lengths, strict=True):
        out[:length] = row
        if edge:
            out[length:] = row[-1]
    return padded


def row_batch(histories: Histories, starts: Int64Array, stops: Int64Array, access: TimeAccess | str) -> Batch:
    """`collate` of windows that are rows of histories, without cutting them out one by one.

    Each position asks at the time of the row after it, which must be a row of the same user.

    Args:
        histories: All events.
        starts: First row of each window, shape ``(batch,)``.
        stops: Row after its last, beyond ``start``; shape ``(batch,)``.
        access: What a model may know of the clock.

    Raises:
        InputError: There is no such time access.
    """
    access = TimeAccess.parse(access)
    lengths = stops - starts
    places = np.arange(lengths.max())
    rows = np.minimum(starts[:, None] + places, stops[:, None] - 1)  # the padding repeats the last
    items = np.where(places < lengths[:, None], histories.items[rows], 0)
    key_time = query_time = None
    if access != TimeAccess.NONE:
        key_time = query_time = torch.from_numpy(np.asarray(histories.times[rows]))
    if access == TimeAccess.REQUEST:
        query_time = torch.from_numpy(np.asarray(histories.times[rows + 1]))
    return Batch(torch.from_numpy(items), key_time, query_time, torch.from_numpy(lengths))


def request_batch(
    histories: Histories, spans: Spans, rows: Int64Array, max_len: int | None, access: TimeAccess | str
) -> Batch:
    """Ask for what comes after each span: its last ``max_len`` events, queried at the time of the next.

    Of a set of positives that is the time of the first.

    Args:
        histories: All events.
        spans: A stage of a split; what is to be predicted begins at row ``stop``.
        rows: Which spans to take, indices into ``spans``.
        max_len: Events to keep; ``None`` keeps all.
        access: What a model may know of the clock.

    Raises:
        InputError: There is no such time access.
    """
    starts, stops = spans.starts[rows], spans.stops[rows]
    if max_len is not None:
        starts = np.maximum(starts, stops - max_len)
    return row_batch(histories, starts, stops, access)
