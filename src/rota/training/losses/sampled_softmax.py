"""Sampled softmax: the target against uniform negatives."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import cross_entropy

from rota.errors import InputError
from rota.tables import Recipe


@dataclass(frozen=True)
class SampledSoftmax(Recipe):
    """Cross-entropy of the target among itself and negatives that a batch shares.

    Negatives are distinct items drawn uniformly from the catalogue, one set for a whole batch, so that their
    scores are one matrix product; where a negative is a position's own target it is left out there. With at
    least as many negatives as items it is the full softmax exactly.

    Attributes:
        num_negatives: Items drawn for a batch.
        temperature: Divides the logits.
    """

    num_negatives: int = 512
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if self.num_negatives < 1:
            raise InputError(f"num_negatives {self.num_negatives}: expected at least 1")
        if not 0 < self.temperature < math.inf:
            raise InputError(f"temperature {self.temperature}: expected a finite number above 0")

    def __call__(
        self,
        features: Float[Tensor, "positions embedding_dim"],
        targets: Int64[Tensor, " positions"],
        items: Float[Tensor, "items embedding_dim"],
        generator: torch.Generator,
    ) -> Float[Tensor, ""]:
        """Mean loss over positions.

        Args:
            features: Of each position, shape ``(positions, embedding_dim)``.
            targets: Item that followed each, shape ``(positions,)``.
            items: Embeddings of the catalogue, shape ``(items, embedding_dim)``.
            generator: Source of the negatives, on the CPU.
        """
        negatives = torch.randperm(len(items), generator=generator)[: self.num_negatives].to(items.device)
        against = features @ items[negatives].T / self.temperature
        against = against.masked_fill(targets[:, None] == negatives, -torch.inf)
        own = (features * items[targets]).sum(-1, keepdim=True) / self.temperature
        first = torch.zeros_like(targets)
        return cross_entropy(torch.cat((own, against), -1).float(), first)
