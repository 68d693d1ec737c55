"""Frequency: what this user does most, lately."""

from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from rota.batch import Batch
from rota.errors import InputError
from rota.histories import Histories, Spans
from rota.models.baseline import Baseline


@dataclass(frozen=True)
class Frequency(Baseline):
    """Scores an item by the sum of ``0.5^(age / half_life)`` over the user's events with it.

    The age of an event is the number of the user's events after it. Items that the user never met score 0.
    Sums are float64, so that equal evidence ties exactly.

    Attributes:
        num_items: Size of the catalogue.
        half_life: Age, in events, at which an event counts half.
    """

    num_items: int
    half_life: float | int = 50
    max_len = None
    needs_clock = False
    personal = True

    @classmethod
    def fitted(cls, histories: Histories, counted: Spans) -> "Frequency":
        """Take the size of the catalogue; what is counted is in each question."""
        return cls(histories.num_items)

    def __post_init__(self) -> None:
        if not self.half_life > 0:
            raise InputError(f"half_life {self.half_life}: expected a positive number of events")

    def weights(self, batch: Batch) -> Float64[Tensor, "batch length"]:
        """Weight of each event, 1 for a row's last; 0 in the padding."""
        positions = torch.arange(batch.items.shape[1], device=batch.items.device)
        age = batch.lengths[:, None] - 1 - positions
        return torch.exp2(-age.double() / self.half_life).where(batch.mask, 0.0)

    def scores(self, batch: Batch) -> Float64[Tensor, "batch items"]:
        """Score of every item: the sum of its events' weights."""
        weights = self.weights(batch)
        return weights.new_zeros(len(weights), self.num_items).scatter_add_(1, batch.items, weights)
