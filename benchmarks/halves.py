"""The events of each user, cut in two at the middle of his time, for benchmarks/personal.py."""

import numpy as np
from own_periods import WIDTH, own_periods

from rota.analysis.lift import Lift, measure_lift
from rota.recipes.question import Question
from rota.types import Float64Array, Int64Array

_EVENTS = 10  # in each half of a user at least


class Halves:
    """Rows of each user's training, before and after the middle of his time.

    Attributes:
        first: Rows of each user before it.
        second: Those after it.
        users: Who has ten at least in both.
    """

    def __init__(self, question: Question) -> None:
        self.histories, train = question.histories, question.stages.train
        self.first: list[Int64Array] = []
        self.second: list[Int64Array] = []
        times = self.histories.times
        for start, stop in zip(train.starts, train.stops, strict=True):
            rows = np.arange(start, stop)
            middle = (times[start] + times[stop - 1]) // 2 if stop > start else 0
            self.first.append(rows[times[rows] <= middle])
            self.second.append(rows[times[rows] > middle])
        fewest = np.minimum([len(own) for own in self.first], [len(own) for own in self.second])
        self.users = np.flatnonzero(fewest >= _EVENTS)

    def lift(self, rows: list[Int64Array], users: Int64Array, longest: float) -> Lift:
        """Lift of some users over some of their events."""
        chosen = [rows[user] for user in users]
        offsets = np.cumsum([0, *map(len, chosen)]).astype(np.int64)
        every, told = np.concatenate(chosen), self.histories
        return measure_lift(
            offsets, told.times[every], told.items[every], unit=told.unit, width=WIDTH, longest=longest,
            groups=100,
        )  # fmt: skip

    def periods(self, rows: list[Int64Array], *, sure: bool) -> Float64Array:
        """The own period of each of the users, see `own_periods`."""
        chosen = [rows[user] for user in self.users]
        if self.histories.unit != "s":
            raise SystemExit(f"times in {self.histories.unit}: expected seconds")
        return own_periods(self.histories.times, self.histories.items, chosen, sure=sure)
