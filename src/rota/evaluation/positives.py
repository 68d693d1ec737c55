"""Positives: the items that did come, a set for each question."""

from typing import NamedTuple

import numpy as np

from rota.histories import Histories, Spans, flat_rows
from rota.types import Int64Array

__all__ = ["Positives"]


class Positives(NamedTuple):
    """Positives of all questions, one after another.

    Attributes:
        rows: Row of each positive, shape ``(positives,)``; ranks come in the same order.
        offsets: Question ``s`` owns ``offsets[s]`` up to ``offsets[s + 1]`` of them; shape ``(spans + 1,)``.
    """

    rows: Int64Array
    offsets: Int64Array

    @classmethod
    def of(cls, histories: Histories, spans: Spans) -> "Positives":
        """What validation or test asks, a span each question.

        An item that occurs more than once among the rows ``stop`` up to ``end`` is one positive, at its first
        row: it can be ranked, and found, only once.

        Args:
            histories: All events.
            spans: A stage of a split.
        """
        rows = flat_rows(spans.stops, spans.ends)
        sizes = spans.ends - spans.stops
        if (sizes > 1).any():
            own = np.repeat(np.arange(len(sizes)), sizes)
            items = histories.items[rows]
            order = np.lexsort((items, own))  # stable: the first row of an item comes first
            new = np.ones(len(rows), dtype=np.bool_)
            new[1:] = (own[order][1:] != own[order][:-1]) | (items[order][1:] != items[order][:-1])
            kept = np.sort(order[new])
            rows, sizes = rows[kept], np.bincount(own[kept], minlength=len(sizes))
        return cls(rows, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
