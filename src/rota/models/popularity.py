"""Popularity: what everybody does."""

from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from rota.batch import Batch
from rota.errors import InputError
from rota.models.base import Scorer
from rota.types import Int64Array


@dataclass(frozen=True, eq=False)
class Popularity(Scorer):
    """Scores an item by how often it occurred in the log, the same for everyone.

    Attributes:
        counts: Number of events by item code.
    """

    counts: Float64[Tensor, " items"]
    max_len = None
    needs_clock = False

    @classmethod
    def of(cls, items: Int64Array, num_items: int) -> "Popularity":
        """Count events.

        Args:
            items: Item code of every event that the stage may see, in any order, shape ``(events,)``.
            num_items: Size of the catalogue.

        Raises:
            InputError: A code is outside the catalogue.
        """
        codes = torch.tensor(items)
        if codes.numel() and not (int(codes.min()) >= 0 and int(codes.max()) < num_items):
            raise InputError(
                f"item codes {int(codes.min())} to {int(codes.max())}: expected 0 to {num_items - 1}; "
                "encode the items with the catalogue that is ranked"
            )
        return cls(torch.bincount(codes, minlength=num_items).double())

    def scores(self, batch: Batch) -> Float64[Tensor, "batch items"]:
        """Score of every item: its count."""
        return self.counts.to(batch.items.device).expand(len(batch.lengths), -1)
