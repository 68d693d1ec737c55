"""By the gap: time from the history's last event to the request."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np

from rota.errors import InputError
from rota.evaluation.positives import Positives
from rota.evaluation.slices.base import Slice, of_questions
from rota.histories import Histories, Spans
from rota.types import Duration, Int64Array
from rota.units import seconds, ticks_per_second

_MOST = 2**64 - 1  # no two times of int64 are further apart


@dataclass(frozen=True)
class ByGap(Slice):
    """Bins between borders; a gap that equals a border is in the bin above it, compared in whole ticks.

    The request is at the time of the question's first positive. On a wall clock a gap is what the clock
    shows; where it was set back between the two events, a gap below zero is in the first bin.

    Attributes:
        borders: Lengths of time, rising.

    Raises:
        InputError: There is no border, one cannot be read, or they do not rise.
    """

    borders: tuple[Duration, ...] = ("1h", "6h", "24h", "7d")
    name: ClassVar[str] = "gap"

    def __post_init__(self) -> None:
        lengths = [seconds(border) for border in self.borders]
        if not lengths or any(one >= two for one, two in pairwise(lengths)):
            raise InputError(f"borders {self.borders} of gaps: expected lengths of time, each above the last")

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        return between([str(border) for border in self.borders])

    def bins(self, histories: Histories, spans: Spans, positives: Positives) -> Int64Array:
        """Bin of each positive, shape ``(positives,)``."""
        asked, last = histories.times[spans.stops], histories.times[spans.stops - 1]
        apart = asked.view(np.uint64) - last.view(np.uint64)  # modulo 2^64: exact where int64 overflows
        gaps = np.where(asked < last, np.uint64(0), apart)
        ticks = [_ticks(border, histories.unit) for border in self.borders]
        return of_questions(np.searchsorted(np.array(ticks, np.uint64), gaps, side="right"), positives)


def between(borders: list[str]) -> tuple[str, ...]:
    """Names of the bins between borders, with what lies under the first and from the last on."""
    middle = [f"{low} to {high}" for low, high in pairwise(borders)]
    return f"under {borders[0]}", *middle, f"{borders[-1]} or more"


def _ticks(border: Duration, unit: str) -> int:
    """Least whole number of ticks that is no shorter, as the border was written: "0.1s" is a tenth."""
    return min(math.ceil(Fraction(repr(seconds(border))) * ticks_per_second(unit)), _MOST)
