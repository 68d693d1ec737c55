"""Transformer: a causal pre-norm transformer over items, with an injected encoding of time or position."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from rota.attention.dropout import Dropout
from rota.attention.softmax import SoftmaxAttention
from rota.batch import TimeAccess
from rota.encodings.base import Encoding, Rotation
from rota.encodings.calendar import Calendar
from rota.encodings.inputs import InputRecipe
from rota.encodings.none import NoEncoding
from rota.models.base import Model, require_sizes
from rota.models.event_input import EventInput, time_features
from rota.models.repeat_head import RepeatHead
from rota.models.similarity import Similarity
from rota.models.stacked import StackedBlock, StackedNetwork

_EMBEDDING_STD = 0.02  # small, so that what layers add is heard from the first steps


class Block(StackedBlock):
    """Attention and a feed-forward layer, each on the normed input and added to it."""

    def __init__(self, embedding_dim: int, num_heads: int, rotation: Rotation, dropout: float) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(embedding_dim)
        self.attention = SoftmaxAttention(embedding_dim, num_heads, rotation)
        self.feed_norm = nn.LayerNorm(embedding_dim)
        self.feed = nn.Sequential(
            nn.Linear(embedding_dim, 4 * embedding_dim),
            nn.GELU(),
            nn.Linear(4 * embedding_dim, embedding_dim),
        )
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, *told: Any) -> Tensor:
        """Transform features of shape ``(batch, length, embedding_dim)``."""
        x = x + self.dropout(self.attention(self.attention_norm(x), *told))
        added: Tensor = x + self.dropout(self.feed(self.feed_norm(x)))
        return added

    def probabilities(self, x: Tensor, *told: Any) -> Tensor:
        """Attention within it, by the plain formula."""
        return self.attention.probabilities(self.attention_norm(x), *told)


class TransformerNetwork(StackedNetwork):
    """A causal pre-norm transformer; what it knows of the clock enters by its rotations and its inputs."""

    def __init__(
        self, recipe: "Transformer", num_items: int, unit: str, access: TimeAccess, seed: int
    ) -> None:
        super().__init__(recipe, num_items, unit, access)
        dim = recipe.embedding_dim
        self.blocks = nn.ModuleList(
            Block(dim, recipe.num_heads, recipe.rotation(layer, unit, seed), recipe.dropout)
            for layer in range(recipe.num_layers)
        )
        self.norm = nn.LayerNorm(dim)

    def told(self, length: int, query_time: Tensor | None, key_time: Tensor | None) -> tuple[Any, ...]:
        """What every block is told: the times."""
        return query_time, key_time


@dataclass(frozen=True)
class Transformer(Model):
    """Recipe of the network: softmax attention, and no embedding of positions unless asked for.

    Attributes:
        encoding: Of time or position, in every layer.
        embedding_dim: Width.
        num_layers: Blocks.
        num_heads: Heads of each block.
        max_len: Most recent events that it looks at.
        dropout: On the embeddings and on what each layer adds.
        inputs: Features of time that are added to the items' embeddings where time access allows; by default
            hour and weekday of each query's time and of each event's own, the same for every encoding.
        position_embedding: A learned vector for each place is added too.
        similarity: How features and items are compared.
        repeat_head: Head by which the next item may come from the user's own history.
    """

    encoding: Encoding = NoEncoding()  # noqa: RUF009 - frozen
    embedding_dim: int = 64
    num_layers: int = 2
    num_heads: int = 2
    max_len: int = 100
    dropout: float = 0.2
    inputs: tuple[InputRecipe, ...] = (Calendar(),)
    position_embedding: bool = False
    similarity: Similarity = Similarity()  # noqa: RUF009 - frozen
    repeat_head: RepeatHead | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))
        require_sizes(self)

    def clocks(self) -> list[str]:
        """Names of its parts that cannot do without a clock."""
        return [type(self.encoding).__name__] if self.encoding.needs_clock else []

    def network(self, *, num_items: int, unit: str, time_access: TimeAccess, seed: int) -> TransformerNetwork:
        """Make the network, without its repeat head."""
        return TransformerNetwork(self, num_items, unit, time_access, seed)

    def event_input(self, num_items: int, unit: str, access: TimeAccess) -> EventInput:
        """What it is told of each event."""
        items = nn.Embedding(num_items, self.embedding_dim)
        nn.init.normal_(items.weight, std=_EMBEDDING_STD)
        inputs = self.inputs if access != TimeAccess.NONE else ()
        features = time_features(inputs, self.embedding_dim, unit, _EMBEDDING_STD)
        positions = None
        if self.position_embedding:
            positions = nn.Embedding(self.max_len, self.embedding_dim)
            nn.init.normal_(positions.weight, std=_EMBEDDING_STD)
        return EventInput(items, positions, features, dropout=self.dropout)
