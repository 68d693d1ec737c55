"""TiSASRec: SASRec whose attention adds vectors of relative time intervals to keys and to values."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from rota.attention.interval_attention import IntervalAttention
from rota.attention.interval_tables import IntervalVectors
from rota.attention.intervals import Intervals
from rota.batch import TimeAccess
from rota.encodings.base import Encoding
from rota.encodings.inputs import InputRecipe
from rota.encodings.none import NoEncoding
from rota.errors import InputError
from rota.models.base import Model, Network, require_sizes
from rota.models.event_input import EventInput
from rota.models.repeat_head import RepeatHead
from rota.models.sasrec_parts import PointWise, normed, scaled_input, start_from_glorot
from rota.models.similarity import Similarity


class TiSASRecBlock(nn.Module):
    """Attention by intervals, added to the normed input; then `PointWise`: SASRec's block in all else."""

    def __init__(self, embedding_dim: int, attention: IntervalAttention, dropout: float) -> None:
        super().__init__()
        self.norm = normed(embedding_dim)
        self.attention = attention
        self.feed = PointWise(embedding_dim, dropout)
        start_from_glorot(attention, self.feed)

    def forward(
        self, x: Tensor, vectors: IntervalVectors, query_time: Tensor | None, key_time: Tensor | None
    ) -> Tensor:
        """Transform features of shape ``(batch, length, embedding_dim)``; ``vectors`` are the network's."""
        queries = self.norm(x)
        fed: Tensor = self.feed(queries + self.attention(queries, x, vectors, query_time, key_time))
        return fed


class TiSASRecNetwork(Network):
    """TiSASRec's blocks, which share the vectors of intervals and positions, and a norm after the last.

    Attributes:
        tables: The vectors.
    """

    def __init__(self, recipe: "TiSASRec", num_items: int, unit: str, access: TimeAccess) -> None:
        super().__init__(
            recipe.event_input(num_items, unit, access),
            recipe.similarity,
            max_len=recipe.max_len,
            time_access=access,
        )
        dim, intervals = recipe.embedding_dim, recipe.intervals
        self.tables = intervals.tables(dim, max_len=recipe.max_len)
        self.blocks = nn.ModuleList(
            TiSASRecBlock(dim, intervals.build(dim, recipe.num_heads), recipe.dropout)
            for _ in range(recipe.num_layers)
        )
        self.norm = normed(dim)

    def hidden(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """What all layers make of the events."""
        vectors = self.tables(x.shape[1])
        for block in self.blocks:
            x = block(x, vectors, query_time, key_time)
        out: Tensor = self.norm(x)
        return out

    def layers(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> list[Float[Tensor, "batch heads length length"]]:
        """Attention probabilities of each layer, by the plain formula."""
        vectors, probabilities = self.tables(x.shape[1]), []
        for block in self.blocks:
            assert isinstance(block, TiSASRecBlock)
            clock = query_time, key_time
            probabilities.append(block.attention.probabilities(block.norm(x), x, vectors, *clock))
            x = block(x, vectors, *clock)
        return probabilities


@dataclass(frozen=True)
class TiSASRec(Model):
    """Recipe of the network (Li et al. 2020).

    Time is in its attention: see `Intervals`, whose vectors of positions it has in the place of an embedding
    of positions. The intervals of a query are counted from the time at which it asks: with time access
    ``history`` that of its own event, which is the published method; with ``request`` that of the event to be
    predicted, so that how long ago the last event was counts too.

    Differences from the published code are those of `SASRec`, those that `rota.attention` names (a user's
    smallest gap is that of the past alone), and that any number of heads works.

    Attributes:
        encoding: None: intervals stand in its place. A repeat head may have one of its own.
        embedding_dim: Width; published 50.
        num_layers: Blocks.
        num_heads: Heads of each block; published 1.
        max_len: Most recent events that it looks at; published 50.
        dropout: On the events, and twice in each feed-forward layer.
        intervals: Of its attention, with a dropout of its own, published the same.
        inputs: Features of time that are added to the events too; published none.
        similarity: How features and items are compared.
        repeat_head: Head by which the next item may come from the user's own history.
    """

    encoding: Encoding = NoEncoding()  # noqa: RUF009 - frozen
    embedding_dim: int = 64
    num_layers: int = 2
    num_heads: int = 1
    max_len: int = 100
    dropout: float = 0.2
    intervals: Intervals = Intervals(dropout=0.2)  # noqa: RUF009 - frozen
    inputs: tuple[InputRecipe, ...] = ()
    similarity: Similarity = Similarity()  # noqa: RUF009 - frozen
    repeat_head: RepeatHead | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))
        require_sizes(self)
        if not isinstance(self.encoding, NoEncoding):
            raise InputError(
                f"encoding {type(self.encoding).__name__} of TiSASRec: expected NoEncoding(), for its "
                "attention works by intervals; use SASRec for another encoding, or give it to the repeat head"
            )

    def clocks(self) -> list[str]:
        """Names of its parts that cannot do without a clock: itself."""
        return ["TiSASRec"]

    def network(self, *, num_items: int, unit: str, time_access: TimeAccess, seed: int) -> TiSASRecNetwork:
        """Make the network, without its repeat head."""
        return TiSASRecNetwork(self, num_items, unit, time_access)

    def event_input(self, num_items: int, unit: str, access: TimeAccess) -> EventInput:
        """What it is told of each event."""
        return scaled_input(
            num_items,
            self.embedding_dim,
            unit=unit,
            access=access,
            places=0,
            inputs=self.inputs,
            dropout=self.dropout,
        )
