"""By the length of the history."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from rota.errors import InputError
from rota.evaluation.positives import Positives
from rota.evaluation.slices.base import Slice, of_questions
from rota.evaluation.slices.gap import between
from rota.histories import Histories, Spans
from rota.types import Int64Array


@dataclass(frozen=True)
class ByHistory(Slice):
    """Bins of the number of events that the question shows, of which a model may look at the last alone.

    Attributes:
        borders: Numbers of events, rising; a length that equals a border is in the bin above it.

    Raises:
        InputError: There is no border, or they do not rise from 2 on.
    """

    borders: tuple[int, ...] = (10, 30, 100, 300)
    name: ClassVar[str] = "history"

    def __post_init__(self) -> None:
        if not self.borders or any(one >= two for one, two in pairwise((1, *self.borders))):
            raise InputError(
                f"borders {self.borders} of histories: expected numbers of events from 2 on, each above the "
                "last"
            )

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins."""
        return between([str(border) for border in self.borders])

    def bins(self, histories: Histories, spans: Spans, positives: Positives) -> Int64Array:
        """Bin of each positive, shape ``(positives,)``."""
        lengths = spans.stops - spans.starts
        return of_questions(np.searchsorted(np.array(self.borders), lengths, side="right"), positives)
