"""Negatives that were drawn beforehand: for a whole batch, of which one part is looked at."""

from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

from rota.training.negatives.base import Negatives
from rota.training.negatives.drawn import DrawnNegatives

__all__: list[str] = []


@dataclass(frozen=True)
class DealtNegatives(Negatives):
    """What another way to draw has drawn for some targets; the loss asks for these and for no others.

    So a step of several parts, or of several processes, has the negatives of the undivided step, and on a
    GPU they travel with the batch.

    Attributes:
        drawn: For those targets.
        uniform: Whether it drew any item with the same probability.
    """

    drawn: DrawnNegatives
    uniform: bool

    @property
    def is_uniform(self) -> bool:
        """As the way by which they were drawn."""
        return self.uniform

    def draw(
        self,
        num_negatives: int,
        targets: Int64[Tensor, " targets"],
        items: int,
        generator: torch.Generator,
        counts: Int64[Tensor, " items"] | None = None,
    ) -> DrawnNegatives:
        """Those that were drawn; nothing is looked at."""
        return self.drawn


def of_targets(drawn: DrawnNegatives, which: Int64[Tensor, " some"]) -> DrawnNegatives:
    """What some of the targets have; negatives that the batch shares stay whole.

    Args:
        drawn: For all.
        which: Places of these, shape ``(some,)``.
    """
    own = drawn.codes.ndim == 2
    return DrawnNegatives(
        drawn.codes[which] if own else drawn.codes,
        drawn.log_proposal[which] if drawn.log_proposal.ndim == 2 else drawn.log_proposal,
        drawn.log_others[which] if drawn.log_others.ndim == 1 else drawn.log_others,
    )


def moved(drawn: DrawnNegatives, device: torch.device | str) -> DrawnNegatives:
    """Copy on another device, while the host goes on."""
    parts = (drawn.codes, drawn.log_proposal, drawn.log_others)
    return DrawnNegatives(*(part.to(device, non_blocking=True) for part in parts))


def pinned(drawn: DrawnNegatives) -> DrawnNegatives:
    """Copy in memory from which a GPU fetches by itself."""
    return DrawnNegatives(
        *(part.pin_memory() for part in (drawn.codes, drawn.log_proposal, drawn.log_others))
    )
