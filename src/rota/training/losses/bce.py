"""Binary cross-entropy with negatives: SASRec's loss."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import logsigmoid

from rota.training.losses._numbers import require_count
from rota.training.losses._scores import target_and_negative_scores
from rota.training.losses.base import Loss
from rota.training.negatives.base import Negatives
from rota.training.negatives.uniform import UniformNegatives


@dataclass(frozen=True)
class BCE(Loss):
    """``-log sigmoid(s(target)) - sum over negatives of log(1 - sigmoid(s))`` (Kang & McAuley 2018, Eq. 6).

    SASRec draws one negative a position from the items that its user never chose; here it may be any item
    but the target: where it is the target, it is left out.

    Attributes:
        num_negatives: Items drawn, for each position or for the batch as ``negatives`` says.
        negatives: How they are drawn.
    """

    num_negatives: int = 1
    negatives: Negatives = field(default_factory=UniformNegatives)

    def __post_init__(self) -> None:
        require_count("num_negatives", self.num_negatives)

    @property
    def is_likelihood(self) -> bool:
        """No: its sigmoids are not one distribution over the catalogue."""
        return False

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
        of_target, of_negatives = log_sigmoids(features, items, targets, drawn.codes.to(items.device))
        return -of_target - of_negatives


def log_sigmoids(
    features: Float[Tensor, "targets embedding_dim"],
    items: Float[Tensor, "items embedding_dim"],
    targets: Int64[Tensor, " targets"],
    codes: Int64[Tensor, "*targets negatives"],
) -> tuple[Float[Tensor, " targets"], Float[Tensor, " targets"]]:
    """The two sides of binary cross-entropy, in float32 at least and stable at any logit.

    Args:
        features: Of each position, shape ``(targets, embedding_dim)``.
        items: Embeddings of the catalogue, shape ``(items, embedding_dim)``.
        targets: Item that followed each, shape ``(targets,)``.
        codes: Negatives, shape ``(negatives,)`` for all or ``(targets, negatives)``.

    Returns:
        ``log sigmoid(s(target))``, and the sum of ``log(1 - sigmoid(s))`` over the negatives that are not
        the target, each of shape ``(targets,)``.
    """
    own, against = target_and_negative_scores(features, items, targets, codes)
    wide = torch.promote_types(against.dtype, torch.float32)
    against = against.to(wide).masked_fill(codes == targets[:, None], -torch.inf)
    return logsigmoid(own[:, 0].to(wide)), logsigmoid(-against).sum(-1)
