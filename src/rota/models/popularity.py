"""Popularity: what everybody does."""

import torch
from jaxtyping import Float64
from torch import Tensor

from rota.batch import Batch
from rota.errors import InputError
from rota.models.base import Scorer
from rota.types import Int64Array


class Popularity(Scorer):
    """Scores an item by how often it occurred in the log, the same for everyone.

    Args:
        num_items: Size of the catalogue.
    """

    max_len = None
    needs_clock = False

    def __init__(self, num_items: int) -> None:
        self.num_items = num_items
        self.counts: Float64[Tensor, " items"] | None = None

    def fit(self, items: Int64Array) -> "Popularity":
        """Count events, instead of any counts before.

        Args:
            items: Item code of every event that the stage may see, in any order, shape ``(events,)``.

        Raises:
            InputError: A code is outside the catalogue.
        """
        codes = torch.tensor(items)
        if codes.numel() and not (int(codes.min()) >= 0 and int(codes.max()) < self.num_items):
            raise InputError(
                f"item codes {int(codes.min())} to {int(codes.max())}: expected 0 to {self.num_items - 1}"
            )
        self.counts = torch.bincount(codes, minlength=self.num_items).double()
        return self

    def scores(self, batch: Batch) -> Float64[Tensor, "batch items"]:
        """Score of every item: its count.

        Raises:
            InputError: Nothing has been counted yet.
        """
        if self.counts is None:
            raise InputError("Popularity has counted nothing yet: call fit(items) with the events it may see")
        return self.counts.to(batch.items.device).expand(len(batch.lengths), -1)
