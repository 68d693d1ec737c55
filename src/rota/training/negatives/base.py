"""Negatives: how the items that a target is compared with are drawn."""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Int64
from torch import Tensor

from rota.errors import InputError
from rota.tables import Recipe
from rota.training.negatives.drawn import DrawnNegatives


class Negatives(Recipe, ABC):
    """A way to draw negatives. How many are drawn is the loss's to say.

    They are drawn on the CPU, so that they are a function of the seed on any device, and as 64-bit integers
    throughout: an item above 2^24, where float32 skips numbers, is as likely to be drawn as it should be.
    """

    @property
    @abstractmethod
    def is_uniform(self) -> bool:
        """Whether a draw is any item with the same probability."""

    @abstractmethod
    def draw(
        self,
        num_negatives: int,
        targets: Int64[Tensor, " targets"],
        items: int,
        generator: torch.Generator,
        counts: Int64[Tensor, " items"] | None = None,
    ) -> DrawnNegatives:
        """Draw for a batch.

        Args:
            num_negatives: Items to draw, for each position or for the batch.
            targets: Item that followed at each position, shape ``(targets,)``.
            items: Size of the catalogue.
            generator: Source of the draws, on the CPU.
            counts: How often each item is a training target, shape ``(items,)``.

        Raises:
            InputError: Counts are needed and missing, or do not fit the catalogue or the batch.
        """


def usable_counts(
    negatives: Negatives, items: int, counts: Int64[Tensor, " counted"] | None
) -> Int64[Tensor, " items"]:
    """The counts, after a look at them.

    Raises:
        InputError: There are none, they are of another catalogue, or they count nothing.
    """
    name = type(negatives).__name__
    if counts is None:
        raise InputError(
            f"{name} draws by how often items are targets, and no counts were given: pass counts=, "
            "a whole number for each item"
        )
    if len(counts) != items:
        raise InputError(
            f"{name}: {len(counts)} counts for a catalogue of {items} items: expected one an item; count the "
            "targets with the catalogue that is scored, for instance torch.bincount(targets, minlength=items)"
        )
    if bool((counts < 0).any()) or not bool((counts > 0).any()):
        raise InputError(
            f"{name}: counts from {int(counts.min())} to {int(counts.max())}: expected none below 0 and one "
            "above; count the targets of training"
        )
    return counts
