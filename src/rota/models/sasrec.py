"""SASRec: causal self-attention over items and positions, in the order of its published code."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from rota.attention.interval_attention import IntervalAttention
from rota.attention.softmax_of_two import SoftmaxOfTwo
from rota.batch import TimeAccess
from rota.encodings.base import Encoding
from rota.encodings.inputs import InputRecipe
from rota.encodings.none import NoEncoding
from rota.encodings.numerals import require_switch
from rota.models.base import Model, require_sizes
from rota.models.event_input import EventInput
from rota.models.repeat_head import RepeatHead
from rota.models.sasrec_parts import PointWise, normed, scaled_input, start_from_glorot
from rota.models.similarity import Similarity
from rota.models.stacked import StackedBlock, StackedNetwork


class SASRecBlock(StackedBlock):
    """Attention, added to the normed input; then `PointWise`.

    With ``q = LN(x)``: ``z = q + attention(q, x, x)`` of queries, keys and values, and the block is
    ``y + FFN(y)`` with ``y = LN(z)``. Keys and values are of what is not normed.
    """

    def __init__(
        self, embedding_dim: int, attention: SoftmaxOfTwo | IntervalAttention, dropout: float
    ) -> None:
        super().__init__()
        self.norm = normed(embedding_dim)
        self.attention = attention
        self.feed = PointWise(embedding_dim, dropout)
        start_from_glorot(attention.query, attention.key, attention.value, self.feed)

    def forward(self, x: Tensor, *told: Any) -> Tensor:
        """Transform features of shape ``(batch, length, embedding_dim)``."""
        queries = self.norm(x)
        fed: Tensor = self.feed(queries + self.attention(queries, x, *told))
        return fed

    def probabilities(self, x: Tensor, *told: Any) -> Tensor:
        """Attention within it, by the plain formula."""
        return self.attention.probabilities(self.norm(x), x, *told)


class SASRecNetwork(StackedNetwork):
    """SASRec's blocks and a norm after the last."""

    def __init__(self, recipe: "SASRec", num_items: int, unit: str, access: TimeAccess, seed: int) -> None:
        super().__init__(recipe, num_items, unit, access)
        dim, dropout = recipe.embedding_dim, recipe.dropout
        rotations = (recipe.rotation(layer, unit, seed) for layer in range(recipe.num_layers))
        self.blocks = nn.ModuleList(
            SASRecBlock(dim, SoftmaxOfTwo(dim, recipe.num_heads, rotation, dropout=dropout), dropout)
            for rotation in rotations
        )
        self.norm = normed(dim)

    def told(self, length: int, query_time: Tensor | None, key_time: Tensor | None) -> tuple[Any, ...]:
        """What every block is told: the times."""
        return query_time, key_time


@dataclass(frozen=True)
class SASRec(Model):
    """Recipe of the network (Kang & McAuley 2018), as its published TensorFlow code has it.

    Events are ``dropout(sqrt(embedding_dim) * item + position)``, the logits products with items that are not
    scaled. The block is that of the code, not of a usual transformer: see `SASRecBlock`.

    Unlike the published code it pads rows on the right, so that positions are counted from the oldest event
    of a row and not from the newest, and it needs no mask. Maps start from Glorot's uniform law, as
    published; items, positions and features of time from a normal law, alike in size once items are scaled.

    Attributes:
        encoding: Of time or position, of queries and keys in every layer; published none.
        embedding_dim: Width; published 50.
        num_layers: Blocks.
        num_heads: Heads of each block; published 1.
        max_len: Most recent events that it looks at; published 50, for MovieLens 200.
        dropout: On the events, on attention probabilities, and twice in each feed-forward layer; published
            0.5, for MovieLens 0.2.
        inputs: Features of time that are added to the events where time access allows; published none.
        position_embedding: A learned vector for each place is added too; published so.
        similarity: How features and items are compared.
        repeat_head: Head by which the next item may come from the user's own history.
    """

    encoding: Encoding = NoEncoding()  # noqa: RUF009 - frozen
    embedding_dim: int = 64
    num_layers: int = 2
    num_heads: int = 1
    max_len: int = 100
    dropout: float = 0.2
    inputs: tuple[InputRecipe, ...] = ()
    position_embedding: bool = True
    similarity: Similarity = Similarity()  # noqa: RUF009 - frozen
    repeat_head: RepeatHead | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))
        require_sizes(self)
        require_switch(self.position_embedding, "position_embedding", "SASRec")

    def clocks(self) -> list[str]:
        """Names of its parts that cannot do without a clock."""
        return [type(self.encoding).__name__] if self.encoding.needs_clock else []

    def network(self, *, num_items: int, unit: str, time_access: TimeAccess, seed: int) -> SASRecNetwork:
        """Make the network, without its repeat head."""
        return SASRecNetwork(self, num_items, unit, time_access, seed)

    def event_input(self, num_items: int, unit: str, access: TimeAccess) -> EventInput:
        """What it is told of each event."""
        return scaled_input(
            num_items,
            self.embedding_dim,
            unit=unit,
            access=access,
            places=self.max_len if self.position_embedding else 0,
            inputs=self.inputs,
            dropout=self.dropout,
        )
