"""Sampled softmax: the target against negatives."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import cross_entropy

from rota.training.losses._numbers import require_count, require_positive
from rota.training.losses._scores import target_and_negative_scores
from rota.training.losses.base import Loss
from rota.training.negatives.base import Negatives
from rota.training.negatives.shared import SharedNegatives


@dataclass(frozen=True)
class SampledSoftmax(Loss):
    """Cross-entropy of the target among itself and negatives.

    Where a negative is a position's own target it is left out there; where all are, the loss is 0. With
    shared negatives, and at least as many as there are items, it is the full softmax exactly.

    Attributes:
        num_negatives: Items drawn, for each position or for the batch as ``negatives`` says.
        temperature: Divides the logits.
        negatives: How they are drawn; of HSTU ``UniformNegatives()``.
        log_q: Whether logits of negatives are corrected by the logarithm of how often they were to be
            expected, so that the sum in the denominator is an unbiased estimate of that over the catalogue.
            ``None``: where they are not uniform; published losses leave uniform negatives as they are.
    """

    num_negatives: int = 512
    temperature: float = 1.0
    negatives: Negatives = field(default_factory=SharedNegatives)
    log_q: bool | None = None

    def __post_init__(self) -> None:
        require_count("num_negatives", self.num_negatives)
        require_positive("temperature", self.temperature)

    @property
    def is_likelihood(self) -> bool:
        """Where negatives are corrected: else the target is so much likelier as the sample is smaller."""
        return self._corrected

    @property
    def _corrected(self) -> bool:
        return not self.negatives.is_uniform if self.log_q is None else self.log_q

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
            generator: Source of the negatives, on the CPU.
            counts: How often each item is a target in training, shape ``(items,)``.

        Raises:
            InputError: The negatives need ``counts`` and have none that fit.
        """
        drawn = self.negatives.draw(self.num_negatives, targets, len(items), generator, counts)
        drawn = drawn.to(items.device)
        own, against = target_and_negative_scores(features, items, targets, drawn.codes)
        logits = torch.cat((own, against), -1)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32)) / self.temperature
        hits = drawn.hits(targets)
        own, against = logits[:, :1], logits[:, 1:]
        if self._corrected:
            against = against - drawn.log_expected(hits).to(logits.dtype)
        logits = torch.cat((own, against.masked_fill(hits, -torch.inf)), -1)
        return cross_entropy(logits, torch.zeros_like(targets), reduction="none")
