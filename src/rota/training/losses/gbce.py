"""Generalised binary cross-entropy: gSASRec's loss."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from rota.errors import InputError
from rota.training.losses._numbers import require_count
from rota.training.losses.base import Loss
from rota.training.losses.bce import log_sigmoids
from rota.training.negatives.base import Negatives
from rota.training.negatives.uniform import UniformNegatives


@dataclass(frozen=True)
class GBCE(Loss):
    """BCE whose positive term is weighted against the overconfidence that sampling brings.

    ``-(beta log sigmoid(s(target)) + sum over k negatives of log(1 - sigmoid(s))) / (k + 1)`` with
    ``beta = alpha (t (1 - 1 / alpha) + 1 / alpha)``, ``alpha = k / (items - 1)`` (Petrov & Macdonald 2023).
    The authors' code raises the sigmoid to ``beta`` and inverts it, which cuts gradients off where the
    logit is large; the logarithm of the power is the weighted logarithm. Negatives that are the target are
    left out.

    Attributes:
        num_negatives: Items drawn, for each position or for the batch as ``negatives`` says.
        calibration: The paper's ``t``: 0 is BCE, 1 makes sigmoids calibrated probabilities.
        negatives: How they are drawn: uniformly, as ``alpha`` supposes.
    """

    num_negatives: int = 256
    calibration: float = 0.75
    negatives: Negatives = field(default_factory=UniformNegatives)

    def __post_init__(self) -> None:
        require_count("num_negatives", self.num_negatives)
        if not 0 <= self.calibration <= 1:
            raise InputError(f"calibration {self.calibration}: expected a number from 0 to 1")
        if not self.negatives.is_uniform:
            raise InputError(
                f"GBCE with {type(self.negatives).__name__}: expected uniform negatives, which its "
                "calibration supposes; use UniformNegatives or SharedNegatives"
            )

    @property
    def is_likelihood(self) -> bool:
        """No: its sigmoids are not one distribution over the catalogue."""
        return False

    def beta(self, items: int) -> float:
        """Weight of the positive term.

        Args:
            items: Size of the catalogue.

        Raises:
            InputError: There are no items other than the target, or fewer than negatives.
        """
        if items < 2:
            raise InputError(
                f"GBCE in a catalogue of {items} item: expected at least 2, for it learns a target against "
                "other items; use a log with more items"
            )
        if self.num_negatives > items - 1:
            raise InputError(
                f"GBCE with num_negatives {self.num_negatives} in a catalogue of {items} items: expected at "
                f"most {items - 1}, all but the target; use fewer, or FullSoftmax"
            )
        alpha = self.num_negatives / (items - 1)
        return alpha * (self.calibration * (1 - 1 / alpha) + 1 / alpha)

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
            counts: Not looked at: the negatives are uniform.

        Raises:
            InputError: There are more negatives than items other than the target.
        """
        beta = self.beta(len(items))
        drawn = self.negatives.draw(self.num_negatives, targets, len(items), generator, counts)
        of_target, of_negatives = log_sigmoids(features, items, targets, drawn.codes.to(items.device))
        return -(beta * of_target + of_negatives) / (self.num_negatives + 1)
