"""Seen items: may a model be right by naming what the user has done before?"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from rota.choice import Choice
from rota.histories import Histories, Spans, flat_rows
from rota.types import Int64Array

__all__ = ["SeenItems"]


class SeenItems(Choice):
    """What becomes of the items in a user's own history.

    Attributes:
        KEEP: They are candidates like any other: people return to places.
        DROP: They are no candidates; a target among them is a miss.
    """

    KEEP = "keep"
    DROP = "drop"


class SeenPairs(NamedTuple):
    """Items of some rows of scores, sorted by item; a few of each row, where a mask would have them all.

    Attributes:
        rows: Row of each pair, shape ``(pairs,)``.
        items: Its item, likewise; no pair occurs twice.
    """

    rows: Int64Array
    items: Int64Array

    @classmethod
    def of(cls, histories: Histories, spans: Spans, asked: Int64Array) -> "SeenPairs":
        """What is in the visible history of each question, all of it.

        Args:
            histories: All events.
            spans: A stage of a split.
            asked: Span of each row, shape ``(rows,)``.
        """
        starts, stops = spans.starts[asked], spans.stops[asked]
        rows = np.repeat(np.arange(len(asked)), stops - starts)
        pairs = np.sort(histories.items[flat_rows(starts, stops)] * len(asked) + rows)
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]  # np.unique takes several times as long
        return cls(pairs % len(asked), pairs // len(asked))

    def left_out(
        self, ranks: Tensor, scores: Tensor, bars: Tensor, targets: Int64Array
    ) -> Int64[Tensor, " rows"]:
        """Ranks among all items, less the pairs that are counted in them.

        Args:
            ranks: Rank of each row's target among all items, shape ``(rows,)``.
            scores: Of the pairs, shape ``(pairs,)``.
            bars: Scores of the targets, shape ``(rows,)``.
            targets: The targets, shape ``(rows,)``.

        Returns:
            Ranks among the items that are left; 0 where the target is not.
        """
        rows = torch.from_numpy(self.rows).to(ranks.device)
        left = ranks - torch.bincount(rows[scores >= bars[rows]], minlength=len(ranks))
        left[rows[torch.from_numpy(self.items == targets[self.rows]).to(ranks.device)]] = 0
        return left
