"""FourierFeatures: the sine and cosine of the time of day and of week as input features."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor

from rota.encodings.base import require_time
from rota.encodings.inputs import InputFeature, InputRecipe
from rota.encodings.projected import projected, projection
from rota.errors import InputError
from rota.rotary.phase import lattice_turns
from rota.types import Duration
from rota.units import seconds, whole_ticks


def clock_features(
    time: Int64[Tensor, "*shape"], periods: Int64[Tensor, " periods"]
) -> Float32[Tensor, "*shape features"]:
    """``[cos(2 pi t / T), sin(2 pi t / T)]`` of each period ``T`` in turn; the phase is exact to half a step.

    The product of two such features depends on the gap of their times alone.

    Args:
        time: Clock ticks since the epoch, any shape.
        periods: Clock ticks.

    Returns:
        Shape ``(*time.shape, 2 periods)``.

    Raises:
        InputError: Time or periods are not int64.
    """
    angle = 2 * math.pi * lattice_turns(time[..., None], torch.ones_like(periods), periods)
    return torch.stack((angle.cos(), angle.sin()), -1).flatten(-2)


class FourierEmbedding(InputFeature):
    """A learned projection of the `clock_features` of each event and of the time of its query.

    Attributes:
        periods: Clock ticks, int64, shape ``(periods,)``.
    """

    sees_query_time = True
    periods: Tensor

    def __init__(self, periods: Int64[Tensor, " periods"], embedding_dim: int) -> None:
        super().__init__()
        self.register_buffer("periods", periods)
        self.project = projection(2 * len(periods), embedding_dim)

    def forward(
        self, key_time: Int64[Tensor, "batch length"] | None, query_time: Int64[Tensor, "batch length"] | None
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """Features to add to the items' embeddings.

        Raises:
            InputError: There is no time.
        """
        event = require_time(key_time, "the Fourier features", "key")
        query = require_time(query_time, "the Fourier features", "query")
        return projected(
            self.project, clock_features(event, self.periods), clock_features(query, self.periods)
        )


@dataclass(frozen=True)
class FourierFeatures(InputRecipe):
    """Daily and weekly Fourier input features, the ClockRoPE paper's Arm 1 (Sec. 4.1.1).

    The paper lists the features and not how they enter; here they are projected, without a bias, and added,
    which for a model that maps its input is the same as appending them. As in the control, `Calendar`, there
    are those of the event and those of the query's time.

    Attributes:
        periods: ``"24h"``, seconds or ``timedelta``; kept as seconds.
    """

    periods: Sequence[Duration] = (86_400.0, 604_800.0)

    def __post_init__(self) -> None:
        if isinstance(self.periods, str) or not isinstance(self.periods, Sequence):
            raise InputError(
                f"periods {self.periods!r}: expected a list of periods: write "
                f"FourierFeatures([{self.periods!r}])"
            )
        object.__setattr__(self, "periods", tuple(seconds(period) for period in self.periods))
        if not self.periods:
            raise InputError(
                'FourierFeatures has no period: expected at least one, for instance ["24h", "7d"]'
            )

    def build(self, embedding_dim: int, unit: str = "s") -> FourierEmbedding:
        """Build the projection.

        Raises:
            InputError: A period is not whole ticks of the clock, or the width is under 1.
        """
        ticks = [whole_ticks(period, unit) for period in self.periods]
        return FourierEmbedding(torch.tensor(ticks, dtype=torch.int64), embedding_dim)
