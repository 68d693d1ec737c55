"""Training windows: histories cut so that every target is learnt from once an epoch."""

from functools import cached_property

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor
from torch.utils.data import Dataset

from rota.batch import TimeAccess, row_batch
from rota.errors import InputError
from rota.histories import Histories, Spans, flat_rows
from rota.training.training_batch import TrainingBatch
from rota.types import Int64Array

_COUNTED = 1024  # windows whose targets are counted at once


class TrainingWindows(Dataset[int]):
    """Windows of at most ``max_len`` inputs over the spans of the training stage.

    A span of ``n`` events has ``n - 1`` targets. Windows are cut from its end, so that all but the first are
    full; no target is lost and none is repeated. The query of each position stands at its target's time,
    which lies within the span.

    Where events of one instant have no order, none of them is predicted from another: the last of an instant
    is asked for all events of the next, and the targets of a span are those after its first instant.

    Attributes:
        starts: First input row of each window.
        lengths: Inputs of each window.
    """

    def __init__(
        self,
        histories: Histories,
        spans: Spans,
        max_len: int,
        access: TimeAccess | str,
        instants: Int64Array | None = None,
    ) -> None:
        """Cut.

        Args:
            histories: All events.
            spans: The training stage.
            max_len: Most inputs of a window.
            access: What a model may know of the clock.
            instants: True time of each event where equal times have no order, shape ``(events,)``; ``None``
                where they have one. A wall clock will not do: it shows some hours twice.

        Raises:
            InputError: There is no target, no such time access, or a span ends within an instant.
        """
        self.histories, self.access = histories, TimeAccess.parse(access)
        self._begins = None if instants is None else _begins(histories, instants)
        starts, stops = _cuts(spans.starts, self._last_asked(spans) + 1, max_len)
        if self._begins is not None:  # within one large basket nothing is asked
            inner = np.searchsorted(self._begins, stops, "right") > np.searchsorted(
                self._begins, starts, "right"
            )
            starts, stops = starts[inner], stops[inner]
        if not len(starts):
            raise InputError("no training target: every history has under two events; lower the filters")
        self.starts, self.lengths = starts, stops - starts

    @cached_property
    def counts(self) -> Int64[Tensor, " items"]:
        """How often each item is a target, shape ``(items,)``."""
        counts = np.zeros(self.histories.num_items, dtype=np.int64)
        for first in range(0, len(self), _COUNTED):
            some = slice(first, first + _COUNTED)
            _, targets = self._asked(self.starts[some], self.lengths[some])
            counts += np.bincount(self.histories.items[targets], minlength=len(counts))
        return torch.from_numpy(counts)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> int:
        return index

    def collate(self, indices: list[int]) -> TrainingBatch:
        """Batch of the windows with these indices."""
        starts, lengths = self.starts[indices], self.lengths[indices]
        batch = row_batch(self.histories, starts, starts + lengths, self.access)
        asked, targets = self._asked(starts, lengths)
        return TrainingBatch(batch, torch.from_numpy(asked), torch.from_numpy(self.histories.items[targets]))

    def num_targets(self, indices: list[int]) -> Int64Array:
        """How many targets each of these windows has, shape ``(windows,)``."""
        starts, lengths = self.starts[indices], self.lengths[indices]
        if self._begins is None:
            return lengths
        # Targets are all events of the instants that begin within a window but for its first row.
        first, last = (np.searchsorted(self._begins, rows, "right") for rows in (starts, starts + lengths))
        return self._begins[last] - self._begins[first]

    def _asked(self, starts: Int64Array, lengths: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Positions of these windows that are asked, laid end to end, and the row of each target."""
        targets = flat_rows(starts, starts + lengths) + 1
        asked = np.flatnonzero(np.arange(lengths.max()) < lengths[:, None])
        if self._begins is None:
            return asked, targets
        place = np.searchsorted(self._begins, targets)
        asking = self._begins[place] == targets
        firsts, lasts = targets[asking], self._begins[place[asking] + 1]
        return np.repeat(asked[asking], lasts - firsts), flat_rows(firsts, lasts)

    def _last_asked(self, spans: Spans) -> Int64Array:
        """Last row of each span that has a target in it; before the span where none has."""
        if self._begins is None:
            return spans.stops - 2
        place = np.searchsorted(self._begins, spans.stops)
        within = self._begins[place] != spans.stops
        if within.any():
            raise InputError(
                f"span {int(np.argmax(within))} ends within an instant whose events have no order: expected "
                "all of them or none; split with the log's own rule of ties"
            )
        return self._begins[place - 1] - 1


def _begins(histories: Histories, instants: Int64Array) -> Int64Array:
    """First row of each instant of each user, and the row after all; shape ``(instants + 1,)``."""
    new = np.ones(len(instants) + 1, dtype=np.bool_)
    new[1:-1] = instants[1:] != instants[:-1]
    new[histories.offsets] = True
    return np.flatnonzero(new).astype(np.int64)


def _cuts(starts: Int64Array, stops: Int64Array, max_len: int) -> tuple[Int64Array, Int64Array]:
    """Rows ``start`` up to ``stop`` in windows of at most ``max_len`` from the end, the last window first."""
    counts = np.maximum(-(-(stops - starts) // max_len), 0)
    spans = np.repeat(np.arange(len(starts)), counts)
    ends = stops[spans] - max_len * flat_rows(np.zeros_like(counts), counts)
    return np.maximum(starts[spans], ends - max_len), ends
