"""By repeat or new: has the user been there before?"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rota.evaluation.positives import Positives
from rota.evaluation.slices.base import Slice
from rota.histories import Histories, Spans
from rota.types import Int64Array


@dataclass(frozen=True)
class ByRepeat(Slice):
    """Whether a positive is in the visible history of its question, all of it, not only a model's window."""

    name: ClassVar[str] = "repeat"

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        return "repeat", "new"

    def bins(self, histories: Histories, spans: Spans, positives: Positives) -> Int64Array:
        """Bin of each positive, shape ``(positives,)``: 0 of a repeat, 1 of what is new.

        A positive stands at its item's first row from the question's ``stop`` on: the row before it of the
        same user and item, if any, is before ``stop``. One sort of the events answers for all questions.
        """
        starts = np.repeat(spans.starts, np.diff(positives.offsets))
        return (_before(histories)[positives.rows] < starts).astype(np.int64)


def _before(histories: Histories) -> Int64Array:
    """For each row, the last before it of the same user and item; -1 where there is none."""
    users = np.repeat(np.arange(histories.num_users), np.diff(histories.offsets))
    order = np.lexsort((histories.items, users))  # stable: rows of one user and item stay in their order
    same = (users[order][1:] == users[order][:-1]) & (
        histories.items[order][1:] == histories.items[order][:-1]
    )
    before = np.full(len(users), -1, np.int64)
    before[order[1:][same]] = order[:-1][same]
    return before
