"""Popularity: what everybody does."""

from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from rota.batch import Batch
from rota.errors import InputError
from rota.histories import Histories, Spans, flat_rows
from rota.models.baseline import Baseline
from rota.types import Int64Array

__all__ = ["Popularity"]


@dataclass(frozen=True, eq=False)
class Popularity(Baseline):
    """Scores an item by how often it occurred in the log, the same for everyone.

    Attributes:
        counts: Number of events by item code.
    """

    counts: Float64[Tensor, " items"]
    max_len = None
    needs_clock = False
    personal = False

    @classmethod
    def fitted(cls, histories: Histories, counted: Spans) -> "Popularity":
        """Count the events of everybody that may be counted.

        Raises:
            InputError: A code is outside the catalogue.
        """
        return cls.of(histories.items[flat_rows(counted.starts, counted.stops)], histories.num_items)

    @classmethod
    def of(cls, items: Int64Array, num_items: int) -> "Popularity":
        """Count events.

        Args:
            items: Item code of every event that the stage may see, in any order, shape ``(events,)``.
            num_items: Size of the catalogue.

        Raises:
            InputError: A code is outside the catalogue.
        """
        require_codes(items, num_items)
        return cls(torch.bincount(torch.tensor(items), minlength=num_items).double())

    def scores(self, batch: Batch) -> Float64[Tensor, "batch items"]:
        """Score of every item: its count."""
        return self.counts.to(batch.items.device).expand(len(batch.lengths), -1)


def require_codes(items: Int64Array, num_items: int) -> None:
    """Refuse events with items that are not of the catalogue.

    Args:
        items: Item code of every event, shape ``(events,)``.
        num_items: Size of the catalogue.

    Raises:
        InputError: A code is outside.
    """
    if len(items) and not (items.min() >= 0 and items.max() < num_items):
        raise InputError(
            f"item codes {items.min()} to {items.max()}: expected 0 to {num_items - 1}; "
            "encode the items with the catalogue that is ranked"
        )
