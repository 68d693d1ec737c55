"""Negatives drawn by popularity."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

from rota.errors import InputError
from rota.training.negatives.base import Negatives, usable_counts
from rota.training.negatives.drawn import DrawnNegatives

_RESOLUTION = 2.0**44  # to which the weights are scaled up where they are no whole numbers


@dataclass(frozen=True)
class PopularityNegatives(Negatives):
    """Items in proportion to how often they are targets, with replacement; one that never is, is not drawn.

    Weights are whole numbers, their running sum is exact, and a draw is a whole number below it: where
    ``torch.multinomial`` ends at 2^24 items of float32 weights, this has no end.

    Attributes:
        power: To which counts are raised: 1 is popularity itself, towards 0 all become equal (0.75 in
            word2vec).
        shared: Whether the batch shares one set, whose scores are one matrix product, or each position draws
            its own.
    """

    power: float = 1.0
    shared: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.power < math.inf:
            raise InputError(
                f"power {self.power}: expected a finite number above 0; for equal weights, UniformNegatives"
            )

    @property
    def is_uniform(self) -> bool:
        """No."""
        return False

    def draw(
        self,
        num_negatives: int,
        targets: Int64[Tensor, " targets"],
        items: int,
        generator: torch.Generator,
        counts: Int64[Tensor, " items"] | None = None,
    ) -> DrawnNegatives:
        """Draw for a batch: codes of shape ``(num_negatives,)`` if shared, else a row of them a target.

        Raises:
            InputError: Counts are missing or do not fit the catalogue.
        """
        weights = self._weights(usable_counts(self, items, counts).cpu())
        upto = weights.cumsum(0)
        total = int(upto[-1])
        shape = (num_negatives,) if self.shared else (len(targets), num_negatives)
        codes = torch.searchsorted(upto, torch.randint(total, shape, generator=generator), right=True)
        others = -weights[targets.cpu()].double() / total
        return DrawnNegatives(codes, (weights[codes].double() / total).log(), torch.log1p(others))

    def _weights(self, counts: Int64[Tensor, " items"]) -> Int64[Tensor, " items"]:
        """Whole numbers in proportion to the powers of the counts, at least 1 for what was ever a target."""
        if self.power == 1:
            return counts
        powers = (counts.double() / counts.max()) ** self.power
        return (powers * (_RESOLUTION / powers.sum())).round().long().clamp(min=(counts > 0).long())
