"""Copies: what a repeat head says of each event of the history, and one likelihood of both sources."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor

__all__ = ["Copies"]


class Copies(NamedTuple):
    """The next item is drawn from the catalogue, or is that of an event of the history.

    Attributes:
        log_new: Log-probability of the catalogue, shape ``(batch, length)``.
        copied: Probability that event ``j`` (last axis) is copied, 0 where position ``i`` does not see it.
            With that of the catalogue it sums to one. Shape ``(batch, length, length)``.
        items: Item of each event, shape ``(batch, length)``.
    """

    log_new: Float[Tensor, "batch length"]
    copied: Float[Tensor, "batch length length"]
    items: Int64[Tensor, "batch length"]

    def mixed(
        self,
        log_likelihood: Float[Tensor, " targets"],
        asked: Int64[Tensor, " targets"],
        targets: Int64[Tensor, " targets"],
    ) -> Float[Tensor, " targets"]:
        """Log-likelihood of targets under both sources.

        Args:
            log_likelihood: Of each target under the catalogue alone.
            asked: Position that should have predicted it, an index into those of all rows laid end to end.
            targets: Item of each target.
        """
        length = self.items.shape[1]
        same = self.items[asked // length] == targets[:, None]
        copied = (self.copied.flatten(0, 1)[asked] * same).sum(-1)
        return _either(self.log_new.flatten()[asked] + log_likelihood, copied)

    def log_probabilities(
        self, logits: Float[Tensor, "batch items"], lengths: Int64[Tensor, " batch"]
    ) -> Float[Tensor, "batch items"]:
        """Log-probability of every item after each row's last event.

        What is nearly impossible so keeps its rank.

        Args:
            logits: Of the catalogue alone.
            lengths: Events of each row.
        """
        row = torch.arange(len(lengths), device=lengths.device)
        drawn = logits.float().log_softmax(-1) + self.log_new[row, lengths - 1, None]
        copied = torch.zeros_like(drawn).scatter_add(1, self.items, self.copied[row, lengths - 1])
        return _either(drawn, copied)


def _either(drawn: Tensor, copied: Tensor) -> Tensor:
    """Log-probability of two sources, of a log-probability and a probability.

    What is nowhere in the history has one source; the logarithm of 0 has no gradient.
    """
    found = copied > 0
    return torch.logaddexp(drawn, copied.where(found, 1.0).log()).where(found, drawn)
