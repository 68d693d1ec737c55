"""Calendar: hour of the day and day of the week as input features."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from rota.encodings.base import require_time
from rota.encodings.inputs import InputFeature, InputRecipe
from rota.encodings.projected import require_width
from rota.units import ticks_per_second

_HOUR, _DAY = 3600, 86_400
_EPOCH_WEEKDAY = 3  # 1970-01-01 was a Thursday; Monday is 0


def hour_of_day(time: Int64[Tensor, "..."], unit: str = "s") -> Int64[Tensor, "..."]:
    """Hour 0 to 23 of a clock in ticks of a unit since the epoch, on that clock's own days."""
    ticks = ticks_per_second(unit)
    return torch.div(torch.remainder(time, _DAY * ticks), _HOUR * ticks, rounding_mode="floor")


def day_of_week(time: Int64[Tensor, "..."], unit: str = "s") -> Int64[Tensor, "..."]:
    """Day of the week of a clock in ticks of a unit since the epoch; Monday is 0."""
    days = torch.div(time, _DAY * ticks_per_second(unit), rounding_mode="floor")
    return torch.remainder(days + _EPOCH_WEEKDAY, 7)


class CalendarEmbedding(InputFeature):
    """Sum of learned vectors for the hour and the weekday of each event and of the time of its query."""

    sees_query_time = True

    def __init__(self, embedding_dim: int, unit: str = "s") -> None:
        super().__init__()
        ticks_per_second(unit)  # refused here, not at the first batch
        self.unit = unit
        self.event_hour = nn.Embedding(24, embedding_dim)
        self.event_day = nn.Embedding(7, embedding_dim)
        self.query_hour = nn.Embedding(24, embedding_dim)
        self.query_day = nn.Embedding(7, embedding_dim)

    def forward(
        self, key_time: Int64[Tensor, "batch length"] | None, query_time: Int64[Tensor, "batch length"] | None
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """Features to add to the items' embeddings.

        Raises:
            InputError: There is no time.
        """
        event = require_time(key_time, "the calendar", "key")
        query = require_time(query_time, "the calendar", "query")
        features: Tensor = (
            self.event_hour(hour_of_day(event, self.unit))
            + self.event_day(day_of_week(event, self.unit))
            + self.query_hour(hour_of_day(query, self.unit))
            + self.query_day(day_of_week(query, self.unit))
        )
        return features


@dataclass(frozen=True)
class Calendar(InputRecipe):
    """Hour-of-day and day-of-week inputs, the ClockRoPE paper's control (Sec. 4.1.1), of event and query.

    They are those of the zone on whose wall clock the log was read: 20:00 stays 20:00 when summer time
    begins.
    """

    def build(self, embedding_dim: int, unit: str = "s") -> CalendarEmbedding:
        """Build the embedding.

        Raises:
            InputError: The width is under 1, or the unit is unknown.
        """
        require_width(embedding_dim)
        return CalendarEmbedding(embedding_dim, unit)
