"""By the hour of the day of the request."""

from dataclasses import dataclass
from typing import ClassVar

from rota.errors import InputError
from rota.evaluation.positives import Positives
from rota.evaluation.slices.base import Slice, of_questions
from rota.histories import Histories, Spans
from rota.types import Int64Array
from rota.units import ticks_per_second

_DAY = 24


@dataclass(frozen=True)
class ByHour(Slice):
    """Bins of some hours from midnight on, by the clock that the histories show.

    That is the users' wall clock where the log has a zone, and else the clock of its times, mostly UTC.

    Attributes:
        width: Hours of a bin; 24 is a multiple of it.

    Raises:
        InputError: It is not.
    """

    width: int = 4
    name: ClassVar[str] = "hour"

    def __post_init__(self) -> None:
        if self.width not in range(1, _DAY + 1) or _DAY % self.width:
            raise InputError(f"width {self.width} of hours: expected one of 1, 2, 3, 4, 6, 8, 12, 24")

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        return tuple(f"{hour:02}-{hour + self.width:02}h" for hour in range(0, _DAY, self.width))

    def bins(self, histories: Histories, spans: Spans, positives: Positives) -> Int64Array:
        """Bin of each positive, shape ``(positives,)``."""
        hours = histories.times[spans.stops] // (3600 * ticks_per_second(histories.unit)) % _DAY
        return of_questions(hours // self.width, positives)
