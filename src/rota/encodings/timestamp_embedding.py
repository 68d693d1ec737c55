"""TimestampEmbedding: the date itself as an input feature, by Time2Vec on centred time."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Float32, Float64, Int64
from torch import Tensor, nn

from rota.encodings.base import require_time
from rota.encodings.inputs import InputFeature, InputRecipe
from rota.encodings.numerals import require_whole
from rota.encodings.origins import require_origin
from rota.encodings.projected import projected, projection
from rota.errors import InputError
from rota.frequencies.geometric import geometric_bank
from rota.rotary.phase import real_turns
from rota.types import Duration
from rota.units import seconds, ticks_per_second


class DateWaves(nn.Module):
    """Time2Vec (Kazemi et al. 2019): ``[w_0 tau + b_0, sin(2 pi (w_i tau + b_i)), ...]``, all learned.

    ``tau`` is the time since a fixed origin in units of a fixed span. It is a difference of int64, and phases
    are reduced to one turn in float64, so that no date costs the clock its precision.

    Attributes:
        rates: ``w``, cycles in a span (the first: per span), float64 whatever the model is cast to: one
            float32 step of a daily rate would be 20 s after ten years. Shape ``(waves + 1,)``.
        offsets: ``b``, turns (the first: a number), shape ``(waves + 1,)``.
        origin: Seconds since the epoch.
        span: Seconds.
    """

    def __init__(self, rates: Float64[Tensor, " waves"], *, origin: int, span: float, unit: str) -> None:
        super().__init__()
        self.rates = nn.Parameter(torch.cat((rates.new_ones(1), rates)))
        self.offsets = nn.Parameter(torch.zeros(len(rates) + 1, dtype=torch.float64))
        self.ticks_per_second = ticks_per_second(unit)
        self.origin, self.span = origin, span

    def forward(self, time: Int64[Tensor, "*shape"]) -> Float32[Tensor, "*shape waves"]:
        """Features of times in clock ticks, shape ``(*time.shape, waves + 1)``."""
        since = (time - self.origin * self.ticks_per_second)[..., None]
        trend = since.double() * (self.rates[:1] / (self.span * self.ticks_per_second)) + self.offsets[:1]
        turns = real_turns(since, self.rates[1:] / self.span, self.ticks_per_second)
        waves = torch.sin(2 * math.pi * (turns + self.offsets[1:].float()))
        return torch.cat((trend.float(), waves), -1)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "DateWaves":
        """Let PyTorch move what we hold, but not round it."""

        def move(tensor: Tensor) -> Tensor:
            moved = fn(tensor)
            return moved if moved.dtype == tensor.dtype else tensor.to(moved.device)

        super()._apply(move, recurse)  # type: ignore[no-untyped-call]
        return self


class DateEmbedding(InputFeature):
    """A learned projection of the `DateWaves` of each event and of the time of its query."""

    sees_query_time = True

    def __init__(self, waves: DateWaves, embedding_dim: int) -> None:
        super().__init__()
        self.waves = waves
        self.project = projection(len(waves.rates), embedding_dim)

    def forward(
        self, key_time: Int64[Tensor, "batch length"] | None, query_time: Int64[Tensor, "batch length"] | None
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """Features to add to the items' embeddings.

        Raises:
            InputError: There is no time.
        """
        event = require_time(key_time, "the timestamp embedding", "key")
        query = require_time(query_time, "the timestamp embedding", "query")
        return projected(self.project, self.waves(event), self.waves(query))


@dataclass(frozen=True)
class TimestampEmbedding(InputRecipe):
    """The "absolute timestamp embedding" that all arms of the ClockRoPE paper have (Sec. 4.1).

    The paper does not say what it is; this is our reading. Buckets of dates are the other plausible one, but
    dates after training would fall into buckets that were never trained. It can tell seasons and trends: a
    shift of all times changes it.

    Attributes:
        waves: Sines; their periods start geometric from ``shortest`` to ``longest`` and are learned.
        shortest: Shortest period at the start; kept as seconds.
        longest: Longest period at the start, and the unit of the linear term; kept as seconds.
        origin: Fixed zero of time in seconds since the epoch, by default the start of 2000: near the log, so
            that one step of training changes a phase by little, and the same for all, so that caches stay.
    """

    waves: int = 16
    shortest: Duration = 86_400.0
    longest: Duration = 315_360_000.0
    origin: int = 946_684_800

    def __post_init__(self) -> None:
        object.__setattr__(self, "shortest", seconds(self.shortest))
        object.__setattr__(self, "longest", seconds(self.longest))
        require_whole(self.waves, 1, "waves")
        require_origin(self.origin, "TimestampEmbedding")
        if not seconds(self.shortest) <= seconds(self.longest):
            raise InputError(
                f"periods from {self.shortest} s to {self.longest} s: expected shortest <= longest"
            )

    def build(self, embedding_dim: int, unit: str = "s") -> DateEmbedding:
        """Build the waves and their projection.

        Raises:
            InputError: The unit is unknown, or the width is under 1.
        """
        shortest, span = seconds(self.shortest), seconds(self.longest)
        periods = torch.from_numpy(geometric_bank(self.waves, shortest, span))
        return DateEmbedding(
            DateWaves(span / periods, origin=self.origin, span=span, unit=unit), embedding_dim
        )
