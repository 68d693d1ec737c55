"""Loss: how far a network's features are from the items that followed."""

from abc import ABC, abstractmethod
from typing import final

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from rota.tables import Recipe


class Loss(Recipe, ABC):
    """A loss over a catalogue; the logit of an item is the dot product of feature and embedding.

    Products are taken in the precision of autocast, where that is on; all that follows in float32 at least.
    """

    @property
    @abstractmethod
    def is_likelihood(self) -> bool:
        """Whether `each` is -log p(target), p a distribution over the catalogue, or an estimate of it.

        Only such a loss can be mixed with another source of items, such as a repeat head: of a sample that
        does not stand for the whole catalogue, the catalogue would seem a better source than it is.
        """

    @abstractmethod
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
            counts: How often each item is a target in training, shape ``(items,)``; only negatives that are
                drawn by popularity need it.

        Raises:
            InputError: The negatives need ``counts``, or more items than there are.
        """

    @final
    def __call__(
        self,
        features: Float[Tensor, "targets embedding_dim"],
        targets: Int64[Tensor, " targets"],
        items: Float[Tensor, "items embedding_dim"],
        generator: torch.Generator,
        counts: Int64[Tensor, " items"] | None = None,
    ) -> Float[Tensor, ""]:
        """Mean of `each` over the targets; of no targets it is 0, with gradients of 0."""
        return self.each(features, targets, items, generator, counts).sum() / max(len(targets), 1)
