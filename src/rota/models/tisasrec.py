"""TiSASRec: SASRec whose attention adds vectors of relative time intervals to keys and to values."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from rota.attention.intervals import Intervals
from rota.batch import TimeAccess
from rota.encodings.base import Encoding
from rota.encodings.inputs import InputRecipe
from rota.encodings.none import NoEncoding
from rota.errors import InputError
from rota.models.base import Model, require_sizes
from rota.models.event_input import EventInput
from rota.models.repeat_head import RepeatHead
from rota.models.sasrec import SASRecBlock
from rota.models.sasrec_parts import normed, scaled_input
from rota.models.similarity import Similarity
from rota.models.stacked import StackedNetwork


class TiSASRecNetwork(StackedNetwork):
    """SASRec's blocks, which share the vectors of intervals and positions, and a norm after the last.

    Attributes:
        tables: The vectors.
    """

    def __init__(self, recipe: "TiSASRec", num_items: int, unit: str, access: TimeAccess) -> None:
        super().__init__(recipe, num_items, unit, access)
        dim, intervals = recipe.embedding_dim, recipe.intervals
        self.tables = intervals.tables(dim, max_len=recipe.max_len)
        self.blocks = nn.ModuleList(
            SASRecBlock(dim, intervals.build(dim, recipe.num_heads), recipe.dropout)
            for _ in range(recipe.num_layers)
        )
        self.norm = normed(dim)

    def told(self, length: int, query_time: Tensor | None, key_time: Tensor | None) -> tuple[Any, ...]:
        """What every block is told: the vectors, with one draw of their dropout, and the times."""
        return self.tables(length), query_time, key_time


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
