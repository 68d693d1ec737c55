"""Negatives as they were drawn, and what their scores stand for."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor


@dataclass(frozen=True)
class DrawnNegatives:
    """Negatives of a batch. The two logarithms only need shapes that broadcast.

    Attributes:
        codes: Items, shape ``(negatives,)`` where the batch shares them, else ``(targets, negatives)``.
        log_proposal: Logarithm of the probability that a draw is that item, of the shape of ``codes`` or
            without dimensions.
        log_others: Logarithm of the probability that a draw is not the position's own target, shape
            ``(targets,)`` or without dimensions.
    """

    codes: Int64[Tensor, "*targets negatives"]
    log_proposal: Float64[Tensor, "..."]
    log_others: Float64[Tensor, "..."]

    def hits(self, targets: Int64[Tensor, " targets"]) -> Bool[Tensor, "targets negatives"]:
        """Accidental hits: where a negative is the position's own target, and so is none."""
        return self.codes == targets[:, None]

    def log_expected(
        self, hits: Bool[Tensor, "targets negatives"]
    ) -> Float64[Tensor, "#targets #negatives"] | Float64[Tensor, "targets negatives"]:
        """Logarithm of how often each negative was to be expected among those that are no hits.

        Subtracted from the logits of the negatives it makes the sum over them and the target an unbiased
        estimate of the sum over the catalogue. The target stands there exactly once, uncorrected: it was not
        drawn. The ``m`` draws that were no hits are draws from ``q'(j) = q(j) / (1 - q(target))``, hence

            E[exp s(target) + sum_i exp(s(j_i) - log(m q'(j_i)))] = sum_j exp s(j)

        given any ``m`` above 0, if no item is out of the proposal's reach. (Dividing by all draws, hits
        counted, is unbiased as well, but ``m`` then adds its own variance.) It also holds for distinct
        draws, where all ``q'`` are equal: it is then the Horvitz-Thompson estimate.

        Args:
            hits: What `hits` returns.
        """
        draws = (~hits).sum(-1, keepdim=True).double().log()
        others = self.log_others if self.log_others.ndim == 0 else self.log_others[:, None]
        return draws + self.log_proposal - others

    def to(self, device: torch.device) -> "DrawnNegatives":
        """The same on a device."""
        return DrawnNegatives(self.codes.to(device), self.log_proposal.to(device), self.log_others.to(device))
