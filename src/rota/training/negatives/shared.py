"""Uniform negatives that a batch shares."""

from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

from rota.training.negatives.base import Negatives
from rota.training.negatives.drawn import DrawnNegatives
from rota.training.negatives.uniform import uniformly


@dataclass(frozen=True)
class SharedNegatives(Negatives):
    """Distinct items drawn uniformly from the catalogue, one set for a whole batch.

    Their scores are one matrix product. With at least as many as there are items, they are all items.
    """

    @property
    def is_uniform(self) -> bool:
        """Yes."""
        return True

    def draw(
        self,
        num_negatives: int,
        targets: Int64[Tensor, " targets"],
        items: int,
        generator: torch.Generator,
        counts: Int64[Tensor, " items"] | None = None,
    ) -> DrawnNegatives:
        """Draw for a batch: codes of shape ``(min(num_negatives, items),)``; ``counts`` are not looked at."""
        return uniformly(torch.randperm(items, generator=generator)[:num_negatives].clone(), items)
