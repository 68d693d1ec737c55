"""What is asked of a model: to score the catalogue and, where it is trained, to be a network."""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rota.batch import Batch, TimeAccess
from rota.encodings.base import Encoding
from rota.tables import Recipe


class Scorer(ABC):
    """Scores the whole catalogue for the next event of each row.

    Attributes:
        max_len: Most recent events that it looks at; ``None`` for all.
        needs_clock: It cannot answer without times.
    """

    max_len: int | None
    needs_clock: bool

    @abstractmethod
    def scores(self, batch: Batch) -> Float[Tensor, "batch items"]:
        """Score of every item as the event after each row's last, larger is better.

        Raises:
            InputError: It needs a clock and the batch has none.
        """


class Network(nn.Module, Scorer, ABC):
    """A model that is trained: features of every position, scored against the items' embeddings.

    Attributes:
        time_access: What it was built to see of the clock; it may be asked at no other.
    """

    time_access: TimeAccess

    @abstractmethod
    def forward(self, batch: Batch) -> Float[Tensor, "batch length embedding_dim"]:
        """Features of every position: what it knows of the event after it."""

    @property
    @abstractmethod
    def item_embeddings(self) -> Float[Tensor, "items embedding_dim"]:
        """Embeddings of the catalogue, which the loss and the scores compare features with."""

    @abstractmethod
    def attention(self, batch: Batch) -> list[Float[Tensor, "batch heads length length"]]:
        """Attention probabilities of each layer, by the plain formula."""

    def scores(self, batch: Batch) -> Float[Tensor, "batch items"]:
        """Score of every item as the event after each row's last."""
        last = self(batch)[torch.arange(len(batch.lengths), device=batch.items.device), batch.lengths - 1]
        scored: Tensor = last @ self.item_embeddings.T
        return scored


class Model(Recipe, ABC):
    """Recipe of a network.

    Attributes:
        encoding: Of time or position, in every layer.
        max_len: Most recent events that it looks at.
    """

    encoding: Encoding
    max_len: int

    @abstractmethod
    def build(self, *, num_items: int, unit: str, time_access: TimeAccess, seed: int) -> Network:
        """Build the network; its weights and frequencies are functions of the seed.

        Args:
            num_items: Size of the catalogue.
            unit: Unit of the clock: s, ms, us or ns.
            time_access: What it may know of the clock.
            seed: Of the run.

        Raises:
            InputError: The encoding needs a clock and ``time_access`` gives none, or sizes do not fit.
        """

    @abstractmethod
    def with_encoding(self, encoding: Encoding) -> "Model":
        """The same model with another encoding."""
