"""SASRec: causal self-attention over items and positions, in the order of its published code."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from rota.attention.softmax_of_two import SoftmaxOfTwo
from rota.batch import TimeAccess
from rota.encodings.base import Encoding, Rotation
from rota.encodings.inputs import InputRecipe
from rota.encodings.none import NoEncoding
from rota.encodings.numerals import require_switch
from rota.models.base import Model, Network, require_sizes
from rota.models.event_input import EventInput
from rota.models.repeat_head import RepeatHead
from rota.models.sasrec_parts import PointWise, normed, scaled_input, start_from_glorot
from rota.models.similarity import Similarity


class SASRecBlock(nn.Module):
    """Attention, added to the normed input; then `PointWise`.

    With ``q = LN(x)``: ``z = q + attention(q, x, x)`` of queries, keys and values, and the block is
    ``y + FFN(y)`` with ``y = LN(z)``. Keys and values are of what is not normed.
    """

    def __init__(self, embedding_dim: int, num_heads: int, rotation: Rotation, dropout: float) -> None:
        super().__init__()
        self.norm = normed(embedding_dim)
        self.attention = SoftmaxOfTwo(embedding_dim, num_heads, rotation, dropout=dropout)
        self.feed = PointWise(embedding_dim, dropout)
        start_from_glorot(self.attention.query, self.attention.key, self.attention.value, self.feed)

    def forward(self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None) -> Tensor:
        """Transform features of shape ``(batch, length, embedding_dim)``."""
        queries = self.norm(x)
        fed: Tensor = self.feed(queries + self.attention(queries, x, query_time, key_time))
        return fed


class SASRecNetwork(Network):
    """SASRec's blocks and a norm after the last."""

    def __init__(self, recipe: "SASRec", num_items: int, unit: str, access: TimeAccess, seed: int) -> None:
        super().__init__(
            recipe.event_input(num_items, unit, access),
            recipe.similarity,
            max_len=recipe.max_len,
            time_access=access,
        )
        dim = recipe.embedding_dim
        self.blocks = nn.ModuleList(
            SASRecBlock(dim, recipe.num_heads, recipe.rotation(layer, unit, seed), recipe.dropout)
            for layer in range(recipe.num_layers)
        )
        self.norm = normed(dim)

    def hidden(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """What all layers make of the events."""
        for block in self.blocks:
            x = block(x, query_time, key_time)
        out: Tensor = self.norm(x)
        return out

    def layers(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> list[Float[Tensor, "batch heads length length"]]:
        """Attention probabilities of each layer, by the plain formula."""
        probabilities = []
        for block in self.blocks:
            assert isinstance(block, SASRecBlock)
            probabilities.append(block.attention.probabilities(block.norm(x), x, query_time, key_time))
            x = block(x, query_time, key_time)
        return probabilities


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

    def rotation(self, layer: int, unit: str, seed: int) -> Rotation:
        """Rotation of one layer."""
        head_dim = self.embedding_dim // self.num_heads
        return self.encoding.build(
            head_dim=head_dim, num_heads=self.num_heads, layer=layer, seed=seed, unit=unit
        )
