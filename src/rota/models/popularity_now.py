"""Popularity now: what everybody did until the request."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from rota.batch import Batch
from rota.errors import InputError
from rota.histories import Histories, Spans, flat_rows
from rota.models.baseline import Baseline
from rota.models.popularity import require_codes
from rota.types import Duration, Int64Array
from rota.units import ticks_per_second, whole_ticks

__all__ = ["PopularityNow"]

_EARLIEST = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class PopularityNow(Baseline):
    """Scores an item by how often it occurred strictly before the request, to the tick.

    Leave-one-out lets `Popularity` count events of others that come after the request; here none is counted.
    Nor is one at the request's own instant. Now is the request time; at time access history the time of the
    history's last event. Before and after are by the clock that the batch shows: where that is the wall clock
    of users in several time zones, it is the hour that is compared, not the instant.

    Counts are whole numbers, exact in float64, so that equal evidence ties. A batch takes one pass over the
    events, and no memory beyond its scores.

    Attributes:
        items: Item code of every event that may be counted, in any order, shape ``(events,)``.
        times: Time of each in ticks of ``unit``, likewise. Both are kept by time.
        num_items: Size of the catalogue.
        unit: Unit of the times, the batch's too: s, ms, us or ns.
        window: Only events at most so long before the request count, a whole number of ticks: what is popular
            these days. ``None`` for all.

    Source:
        The baseline of Ji et al., A Re-visit of the Popularity Baseline in Recommender Systems, SIGIR 2020.
    """

    items: Int64Array
    times: Int64Array
    num_items: int
    unit: str = "s"
    window: Duration | None = None
    max_len = None
    needs_clock = True
    personal = False

    def __post_init__(self) -> None:
        if self.items.shape != self.times.shape or self.items.ndim != 1:
            raise InputError(
                f"items of shape {self.items.shape} and times of shape {self.times.shape}: expected one of "
                "each for every event"
            )
        require_codes(self.items, self.num_items)
        ticks_per_second(self.unit)
        self._window()
        order = np.argsort(self.times, kind="stable")
        for name in ("items", "times"):
            kept = np.asarray(getattr(self, name)[order], np.int64)
            kept.setflags(write=False)
            object.__setattr__(self, name, kept)

    @classmethod
    def fitted(cls, histories: Histories, counted: Spans) -> "PopularityNow":
        """Keep the events of everybody that may be counted, with their times.

        Raises:
            InputError: A code is outside the catalogue.
        """
        rows = flat_rows(counted.starts, counted.stops)
        return cls(histories.items[rows], histories.times[rows], histories.num_items, histories.unit)

    def scores(self, batch: Batch) -> Float64[Tensor, "batch items"]:
        """Score of every item: its count before the request.

        Raises:
            InputError: The batch has no clock.
        """
        if batch.query_time is None:
            raise InputError(
                "PopularityNow needs a clock and the batch has none: choose time access history or request"
            )
        now = batch.query_time.gather(1, batch.lengths[:, None] - 1)[:, 0].cpu().numpy()
        found = np.empty((len(now), self.num_items))
        order = np.argsort(now, kind="stable")
        for row, counts in zip(order, self._counts(now[order]), strict=True):
            found[row] = counts
        return torch.from_numpy(found).to(batch.items.device)

    def _counts(self, now: Int64Array) -> Iterator[Int64Array]:
        """Counts before each request, in one array; in the order of time, events enter and leave once."""
        entered = np.searchsorted(self.times, now, side="left")
        left = np.searchsorted(self.times, self._since(now), side="left")
        counts = np.zeros(self.num_items, np.int64)
        come = gone = left.min(initial=len(self.times))
        for stop, start in zip(entered, left, strict=True):
            counts += np.bincount(self.items[come:stop], minlength=self.num_items)
            counts -= np.bincount(self.items[gone:start], minlength=self.num_items)
            come, gone = stop, start
            yield counts

    def _since(self, now: Int64Array) -> Int64Array:
        """First instant that counts for each request."""
        window = self._window()
        if window is None:
            return np.full_like(now, _EARLIEST)
        return np.where(now < _EARLIEST + window, _EARLIEST, now - window)  # the clock itself may end there

    def _window(self) -> int | None:
        if self.window is None:
            return None
        try:
            return whole_ticks(self.window, self.unit)
        except InputError as error:
            raise InputError(f"window of popularity: {error}") from error
