"""LogitBias: what is added to the logits of attention for a pair of a query and an event; and its recipe."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor, nn

from rota.frequencies.streams import streams
from rota.tables import Recipe

__all__ = ["BiasRecipe", "LogitBias"]

_TABLES = (
    2**30
)  # marks the streams of tables: no composed encoding, whose parts are counted from 0, has so many


class LogitBias(nn.Module, ABC):
    """A number for each pair of a query and an event, added to their logit.

    It depends on the pair, so nothing of it can be kept with a cached key. Times are int64 clock ticks since
    the epoch; positions int64. What attention does with pairs it must not see is its own affair: a bias
    answers for every pair.

    Attributes:
        needs_clock: It depends on times, so it must be given them.
    """

    needs_clock: bool = False

    @abstractmethod
    def forward(
        self,
        query_time: Int64[Tensor, "batch query"] | None,
        key_time: Int64[Tensor, "batch key"] | None,
        query_position: Int64[Tensor, "*batch query"] | None = None,
        key_position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Float[Tensor, "#batch #heads query key"]:
        """Bias of each pair, shape ``(batch or 1, heads or 1, query, key)``.

        Args:
            query_time: Time at which each query asks, shape ``(batch, query)``.
            key_time: Time of each event, shape ``(batch, key)``.
            query_position: Shape ``(query,)`` or ``(batch, query)``; by default 0, 1, ... where there are as
                many queries as events. A bias that knows neither times nor positions cannot know how many
                there are: without a clock, pass positions.
            key_position: Of the events, likewise.

        Raises:
            InputError: A time or a position is missing that it needs.
        """

    if TYPE_CHECKING:  # nn.Module's own says Any
        __call__ = forward


class BiasRecipe(Recipe, ABC):
    """Recipe of a `LogitBias`: a frozen dataclass, one TOML table."""

    @property
    @abstractmethod
    def needs_clock(self) -> bool:
        """Whether what it builds depends on times."""

    @abstractmethod
    def build(
        self, *, max_len: int, num_heads: int = 1, layer: int = 0, seed: int = 0, unit: str = "s"
    ) -> LogitBias:
        """Build the module of one layer, a function of these arguments.

        Args:
            max_len: Events that a row holds at most.
            num_heads: Query heads.
            layer: Index of the layer; each has its own draw.
            seed: Of the run.
            unit: Unit of the clock: s, ms, us or ns.

        Raises:
            InputError: Sizes do not fit, or the unit is unknown.
        """


def starting_table(size: int, spread: float, seed: int, layer: int, table: int) -> Float32[Tensor, " size"]:
    """Learned numbers at the start: ``N(0, spread^2)``, each table from a stream of its own."""
    drawn = streams(seed, layer, (_TABLES, table))(None).standard_normal(size)
    return torch.from_numpy((spread * drawn).astype(np.float32))


def looked_up(table: Float[Tensor, " size"], index: Tensor) -> Tensor:
    """Entries of a learned table, int32 or int64 index of any shape; the gradient of an entry is summed wide.

    A bucket may collect millions of pairs: in bfloat16 such a sum stands still at 256.
    """
    wide = table.to(torch.promote_types(table.dtype, torch.float32))
    return wide.index_select(0, index.flatten()).view(index.shape).to(table.dtype)
