"""Full softmax: the target against the whole catalogue."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from rota.training.losses._blocks import blockwise_cross_entropy
from rota.training.losses._numbers import require_count, require_positive
from rota.training.losses.base import Loss


@dataclass(frozen=True)
class FullSoftmax(Loss):
    """Cross-entropy over the whole catalogue, exactly, in the memory of one block of logits.

    The logits of a batch are computed block by block, and again in the backward pass: a fourth matrix
    product for the three of the plain loss, against a matrix of ``(targets, items)`` that is never written.
    On a CPU, where a block stays in the cache, that is the faster way as well.

    Attributes:
        temperature: Divides the logits.
        logits_at_once: Size of the largest block; of each logit there are one or two numbers in memory. On a
            GPU a larger one may be faster.
    """

    temperature: float = 1.0
    logits_at_once: int = 2**20

    def __post_init__(self) -> None:
        require_positive("temperature", self.temperature)
        require_count("logits_at_once", self.logits_at_once)

    @property
    def is_likelihood(self) -> bool:
        """Yes."""
        return True

    def each(
        self,
        features: Float[Tensor, "targets embedding_dim"],
        targets: Int64[Tensor, " targets"],
        items: Float[Tensor, "items embedding_dim"],
        generator: torch.Generator,
        counts: Int64[Tensor, " items"] | None = None,
    ) -> Float[Tensor, " targets"]:
        """Loss of each target.

        Args:
            features: Of each position, shape ``(targets, embedding_dim)``.
            targets: Item that followed each, shape ``(targets,)``.
            items: Embeddings of the catalogue, shape ``(items, embedding_dim)``.
            generator: Not drawn from.
            counts: Not looked at.
        """
        return blockwise_cross_entropy(features / self.temperature, targets, items, self.logits_at_once)
