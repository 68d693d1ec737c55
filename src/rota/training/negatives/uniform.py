"""Uniform negatives of each position."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

from rota.training.negatives.base import Negatives
from rota.training.negatives.drawn import DrawnNegatives


@dataclass(frozen=True)
class UniformNegatives(Negatives):
    """Each position draws its own, uniformly over the catalogue and with replacement.

    HSTU's "local" negatives (Zhai et al. 2024), and those of SASRec and gSASRec but for the items of the
    user's history, which SASRec leaves out.
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
        """Draw for a batch: codes of shape ``(targets, num_negatives)``; ``counts`` are not looked at."""
        codes = torch.randint(items, (len(targets), num_negatives), generator=generator)
        return uniformly(codes, items)


def uniformly(codes: Int64[Tensor, "*targets negatives"], items: int) -> DrawnNegatives:
    """Negatives of which each is any item with the same probability."""
    size = torch.tensor(items, dtype=torch.float64)
    return DrawnNegatives(
        codes, -size.log(), torch.log1p(-1 / size) if items > 1 else size.new_tensor(-math.inf)
    )
