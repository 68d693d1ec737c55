"""What is asked of a model: to score the catalogue and, where it is trained, to be a network."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from rota.batch import Batch, TimeAccess
from rota.encodings.base import Encoding, Rotation
from rota.encodings.inputs import InputRecipe
from rota.errors import InputError
from rota.models.copies import Copies
from rota.models.event_input import EventInput
from rota.models.repeat_head import RepeatAttention, RepeatHead
from rota.models.rotations import rotation_of
from rota.models.similarity import Similarity
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


class Outlook(NamedTuple):
    """What a network knows at every position of the event after it.

    Attributes:
        features: Their product with `Network.item_embeddings` is the logit of each item, shape
            ``(batch, length, embedding_dim)``.
        copies: What its repeat head says of the history; ``None`` without one.
    """

    features: Float[Tensor, "batch length embedding_dim"]
    copies: Copies | None

    def last(self, lengths: Int64[Tensor, " batch"]) -> Float[Tensor, "batch embedding_dim"]:
        """Features of each row's last event.

        Args:
            lengths: Events of each row, one at least.
        """
        return self.features[torch.arange(len(lengths), device=self.features.device), lengths - 1]


class Network(nn.Module, Scorer, ABC):
    """A model that is trained: features of every position, compared with the items' embeddings.

    Attributes:
        events: What it is told of each event.
        similarity: How features and embeddings are compared.
        repeat_head: Its repeat head, or ``None``.
        time_access: What it was built to see of the clock; it may be asked at no other.
    """

    def __init__(self, recipe: "Model", num_items: int, unit: str, access: TimeAccess) -> None:
        super().__init__()
        self.events = recipe.event_input(num_items, unit, access)
        self.similarity = recipe.similarity
        self.max_len, self.time_access = recipe.max_len, access
        self.needs_clock = access != TimeAccess.NONE
        self.repeat_head: RepeatAttention | None = None

    @abstractmethod
    def hidden(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """What all layers make of the events.

        Args:
            x: The events, as `EventInput` tells them, shape ``(batch, length, embedding_dim)``.
            query_time: Time at which each position asks, clock ticks; ``None`` without a clock.
            key_time: Time of each event, likewise.
        """

    @abstractmethod
    def layers(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> list[Float[Tensor, "batch heads length length"]]:
        """Attention probabilities of each layer, by the plain formula; arguments as for `hidden`."""

    def forward(self, batch: Batch) -> Outlook:
        """What it knows at every position.

        Raises:
            InputError: It was built to see times and the batch has none, or a row is too long.
        """
        query_time, key_time = self._clock(batch)
        x = self.events(batch)
        hidden = self.hidden(x, query_time, key_time)
        copies = None
        if self.repeat_head is not None:
            copies = self.repeat_head(x, hidden, batch.items, query_time, key_time)
        return Outlook(self.similarity.of_features(hidden), copies)

    if TYPE_CHECKING:  # nn.Module's own says Any
        __call__ = forward

    @property
    def item_embeddings(self) -> Float[Tensor, "items embedding_dim"]:
        """Embeddings of the catalogue, which the loss and the scores compare features with."""
        return self.similarity.of_items(self.events.items.weight)

    def attention(self, batch: Batch) -> list[Float[Tensor, "batch heads length length"]]:
        """Attention probabilities of each layer, by the plain formula.

        Raises:
            InputError: As `forward`.
        """
        times = self._clock(batch)
        return self.layers(self.events(batch), *times)

    def scores(self, batch: Batch) -> Float[Tensor, "batch items"]:
        """Score of every item as the event after each row's last.

        That is its logit and, with a repeat head, its log-probability.

        Raises:
            InputError: As `forward`.
        """
        outlook: Outlook = self(batch)
        logits = outlook.last(batch.lengths) @ self.item_embeddings.T
        copies = outlook.copies
        return logits if copies is None else copies.log_probabilities(logits, batch.lengths)

    def _clock(self, batch: Batch) -> tuple[Tensor | None, Tensor | None]:
        """Times of the queries and of the events, where it may see them."""
        if not self.needs_clock:
            return None, None
        if batch.key_time is None:
            raise InputError(
                "the model was built to see times and the batch has none: collate with its time access"
            )
        return batch.query_time, batch.key_time


class Model(Recipe, ABC):
    """Recipe of a network.

    Attributes:
        encoding: Of time or position, in every layer.
        embedding_dim: Width.
        num_layers: Layers.
        num_heads: Heads of each layer.
        max_len: Most recent events that it looks at.
        dropout: On the embeddings and on what each layer adds.
        inputs: Features of time that are added to the items' embeddings, where time access allows.
        similarity: How features and items are compared.
        repeat_head: Head by which the next item may come from the user's own history; ``None``: from the
            catalogue alone.
    """

    encoding: Encoding
    embedding_dim: int
    num_layers: int
    num_heads: int
    max_len: int
    dropout: float
    inputs: tuple[InputRecipe, ...]
    similarity: Similarity
    repeat_head: RepeatHead | None

    @abstractmethod
    def clocks(self) -> list[str]:
        """Names of its parts that cannot do without a clock."""

    @abstractmethod
    def event_input(self, num_items: int, unit: str, access: TimeAccess) -> EventInput:
        """What its network is told of each event."""

    @abstractmethod
    def network(self, *, num_items: int, unit: str, time_access: TimeAccess, seed: int) -> Network:
        """Make the network, without its repeat head, from torch's own generator and the seed."""

    def build(self, *, num_items: int, unit: str, time_access: TimeAccess, seed: int) -> Network:
        """Build the network; its weights and frequencies are functions of the seed.

        Args:
            num_items: Size of the catalogue.
            unit: Unit of the clock: s, ms, us or ns.
            time_access: What it may know of the clock.
            seed: Of the run.

        Raises:
            InputError: A part needs a clock and ``time_access`` gives none, or sizes do not fit.
        """
        needy = [*self.clocks(), *([] if self.repeat_head is None else self.repeat_head.clocks())]
        if needy and time_access == TimeAccess.NONE:
            raise InputError(
                f"{needy[0]} works by time, which time access none withholds: "
                "use history or request, or leave the arm out"
            )
        with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
            torch.manual_seed(seed)
            network = self.network(num_items=num_items, unit=unit, time_access=time_access, seed=seed)
            if self.repeat_head is not None:
                network.repeat_head = self.repeat_head.build(
                    self.embedding_dim,
                    self.num_heads,
                    encoding=self.encoding,
                    layer=self.num_layers,
                    seed=seed,
                    unit=unit,
                )
        return network

    def rotation(self, layer: int, unit: str, seed: int, *, head_dim: int | None = None) -> Rotation:
        """Rotation of one layer.

        Args:
            layer: Its index.
            unit: Unit of the clock.
            seed: Of the run.
            head_dim: Features of a head; by default an equal share of the width.
        """
        return rotation_of(
            self.encoding,
            head_dim=head_dim or self.embedding_dim // self.num_heads,
            num_heads=self.num_heads,
            layer=layer,
            seed=seed,
            unit=unit,
        )

    def with_encoding(self, encoding: Encoding) -> "Model":
        """The same model with another encoding."""
        return replace(self, encoding=encoding)  # type: ignore[type-var]


def require_sizes(model: Model, *, unless: str | None = "") -> None:
    """Refuse sizes that no network has.

    Args:
        model: Its recipe.
        unless: What else would do, in words, where the heads do not divide the width; ``None`` where they
            need not, for they have widths of their own.

    Raises:
        InputError: One is under 1, the heads do not divide the width, or the dropout is no share.
    """
    for name in ("embedding_dim", "num_layers", "num_heads", "max_len"):
        if getattr(model, name) < 1:
            raise InputError(f"{name} {getattr(model, name)}: expected a whole number of at least 1")
    if unless is not None and model.embedding_dim % model.num_heads:
        raise InputError(
            f"embedding_dim {model.embedding_dim}: expected a multiple of num_heads {model.num_heads}{unless}"
        )
    if not 0 <= model.dropout < 1:
        raise InputError(f"dropout {model.dropout}: expected a number from 0 up to 1")
