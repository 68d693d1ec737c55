"""TimeBias: HSTU's learned number for each bucket of the gap between a query's time and an event's."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from rota.encodings.base import require_time
from rota.encodings.bias import BiasRecipe, LogitBias, looked_up, starting_table
from rota.encodings.numerals import is_number, is_whole, require_spread, shown
from rota.encodings.position_bias import DistanceBias, PositionBias
from rota.encodings.thresholds import bucket_starts
from rota.errors import InputError
from rota.types import Duration
from rota.units import seconds

_PUBLISHED_BASE = math.exp(0.301)  # the published code divides a natural logarithm by 0.301


class GapBias(LogitBias):
    """``weight[bucket of |t_query - t_key|]``, and a number for the distance in the row; all heads alike.

    Only the gap matters, an exact difference of int64: a shift of all times changes no bit.

    Attributes:
        weight: Of the buckets, shape ``(num_buckets + 1,)``.
        starts: Smallest gap of buckets 1, 2, ... in clock ticks, int64, ascending. A cast to another
            floating type leaves them as they are.
        position: Bias by position that is added, or ``None``.
    """

    needs_clock = True
    starts: Tensor

    def __init__(
        self,
        weight: Float[Tensor, " buckets"],
        starts: Int64[Tensor, " starts"],
        position: DistanceBias | None = None,
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("starts", starts)
        self.position = position

    def forward(
        self,
        query_time: Int64[Tensor, "batch query"] | None,
        key_time: Int64[Tensor, "batch key"] | None,
        query_position: Int64[Tensor, "*batch query"] | None = None,
        key_position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Float[Tensor, "batch 1 query key"]:
        """Bias of each pair, shape ``(batch, 1, query, key)``.

        Raises:
            InputError: A time is missing, or a position that is needed.
        """
        buckets = self.buckets(query_time, key_time)
        return self.of_buckets(buckets, query_time, key_time, query_position, key_position)

    def of_buckets(
        self,
        buckets: Tensor,
        query_time: Int64[Tensor, "batch query"] | None,
        key_time: Int64[Tensor, "batch key"] | None,
        query_position: Int64[Tensor, "*batch query"] | None = None,
        key_position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Float[Tensor, "batch 1 query key"]:
        """Bias of each pair whose bucket is known: layers of one recipe decide it once for all of them.

        Args:
            buckets: Of these times, as `buckets` of any layer of the same recipe returns them.
            query_time: As for `forward`, likewise the others.
            key_time: Likewise.
            query_position: Likewise.
            key_position: Likewise.

        Raises:
            InputError: A position is missing that is needed.
        """
        bias = looked_up(self.weight, buckets).unsqueeze(1)
        if self.position is None:
            return bias
        return bias + self.position(query_time, key_time, query_position, key_position)

    def buckets(
        self,
        query_time: Int64[Tensor, "batch query"] | None,
        key_time: Int64[Tensor, "batch key"] | None,
    ) -> Tensor:
        """Bucket of each pair's gap, int32, shape ``(batch, query, key)``.

        Raises:
            InputError: A time is missing.
        """
        query = require_time(query_time, "the time bias", "query")
        key = require_time(key_time, "the time bias", "key")
        gap = (query[:, :, None] - key[:, None, :]).abs_()
        return torch.bucketize(gap, self.starts, out_int32=True, right=True)


@dataclass(frozen=True)
class TimeBias(BiasRecipe):
    """HSTU's relative attention bias by time, and by position (Zhai et al. 2024, in its published code).

    A pair of a query that asks at ``t_q`` and an event at ``t_k`` has, in each layer, for all heads,
    ``w_time[b] + w_position[max_len - 1 + j - i]`` with
    ``b = clamp(floor(log_base(max(|t_q - t_k| / bucket_unit, 1))), 0, num_buckets)``.

    A query asks at the time of the event to be predicted, which is the published shift of times by one,
    where the batch's time access is ``request``; with ``history`` it asks at its own event's time.
    Buckets are decided in whole clock ticks. The published code takes the logarithm in float32, and is one
    bucket off for some gaps beside a threshold (about 2 of a million up to 13 years).

    Attributes:
        num_buckets: Last bucket, counted from 0; the published 128 gives 129 numbers, of which gaps of up to
            ten years use 66.
        bucket_base: Ratio of each bucket's start to the one before: published ``e^0.301`` = 1.351, neither 2
            nor 10.
        bucket_unit: Gap that counts 1 in the logarithm; kept as seconds.
        position: Add the bias by position, as published; for that one alone there is `PositionBias`.
        spread: Standard deviation of both tables at the start.
    """

    num_buckets: int = 128
    bucket_base: float = _PUBLISHED_BASE
    bucket_unit: Duration = 1.0
    position: bool = True
    spread: float = 0.02
    needs_clock = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "bucket_unit", seconds(self.bucket_unit))
        if not is_whole(self.num_buckets) or self.num_buckets < 1:
            raise InputError(
                f"num_buckets {shown(self.num_buckets)}: a bias of one bucket for all gaps says nothing of "
                "time; expected a whole number of at least 1, published 128"
            )
        require_spread(self.spread, "spread", "TimeBias")
        if not is_number(self.bucket_base) or self.bucket_base <= 1:
            raise InputError(
                f"bucket_base {shown(self.bucket_base)}: expected a finite number over 1, published "
                "1.351 (e^0.301)"
            )

    def build(
        self, *, max_len: int, num_heads: int = 1, layer: int = 0, seed: int = 0, unit: str = "s"
    ) -> GapBias:
        """Draw the tables of one layer; the number of heads does not matter to them.

        Raises:
            InputError: ``max_len`` is no whole number of at least 1, or the unit is unknown.
        """
        starts = bucket_starts(self.num_buckets, self.bucket_base, seconds(self.bucket_unit), unit)
        place = PositionBias(self.spread).build(max_len=max_len, layer=layer, seed=seed)
        return GapBias(
            starting_table(self.num_buckets + 1, self.spread, seed, layer, table=1),
            torch.from_numpy(starts),
            place if self.position else None,
        )
