"""Similarity: how features of a position are compared with items' embeddings."""

import math
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from rota.errors import InputError
from rota.tables import Recipe

_LEAST_NORM = 1e-6  # of HSTU's published code


@dataclass(frozen=True)
class Similarity(Recipe):
    """The logit of an item: the product of its embedding with the features, over a temperature.

    Attributes:
        normalised: Both have length 1 first, so that the product is a cosine, as HSTU has it.
        temperature: Divides the product; with cosines published 0.05, for otherwise no item can be likely.
    """

    normalised: bool = False
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.temperature < math.inf:
            raise InputError(
                f"temperature {self.temperature} of Similarity: expected a finite number above 0"
            )

    def of_features(self, features: Float[Tensor, "*shape embedding_dim"]) -> Tensor:
        """Features whose product with `of_items` is the logit."""
        lengthened = normalize(features, dim=-1, eps=_LEAST_NORM) if self.normalised else features
        return lengthened if self.temperature == 1 else lengthened / self.temperature

    def of_items(self, embeddings: Float[Tensor, "items embedding_dim"]) -> Tensor:
        """Embeddings as they are compared."""
        return normalize(embeddings, dim=-1, eps=_LEAST_NORM) if self.normalised else embeddings
