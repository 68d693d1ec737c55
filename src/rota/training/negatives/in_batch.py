"""In-batch negatives: the targets of the other positions."""

from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

from rota.errors import InputError
from rota.training.negatives.base import Negatives, usable_counts
from rota.training.negatives.drawn import DrawnNegatives


@dataclass(frozen=True)
class InBatchNegatives(Negatives):
    """What the other positions of the batch have as targets: all, or a uniform part of ``num_negatives``.

    They are draws by popularity, as far as positions are independent of each other; the probability of an
    item is its share of the training targets. An item that is the target of several positions is several
    draws.
    """

    @property
    def is_uniform(self) -> bool:
        """No: popular items are targets more often."""
        return False

    def draw(
        self,
        num_negatives: int,
        targets: Int64[Tensor, " targets"],
        items: int,
        generator: torch.Generator,
        counts: Int64[Tensor, " items"] | None = None,
    ) -> DrawnNegatives:
        """Draw for a batch: codes of shape ``(min(num_negatives, targets),)``, the whole batch in its order.

        Raises:
            InputError: Counts are missing, do not fit the catalogue, or are 0 for a target of the batch.
        """
        counts = usable_counts(self, items, counts).to(targets.device)
        own = counts[targets]
        if not bool((own > 0).all()):
            raise InputError(
                f"InBatchNegatives: item {int(targets[own == 0][0])} is a target of the batch and has count "
                "0: expected the counts of the training targets; count them with the batches' own log"
            )
        share = own.double() / counts.sum()
        kept = torch.arange(len(targets))
        if num_negatives < len(targets):
            kept = torch.randperm(len(targets), generator=generator)[:num_negatives]
        kept = kept.to(targets.device)
        return DrawnNegatives(targets[kept], share[kept].log(), torch.log1p(-share))
