"""One-day holdout: every event of a user on one day is a positive, the day before it validates.

What each stage may see, of the events before the day of the validation, and before the day of the test:

========== ============================== =========================================================
stage      history                        positives, a set for each user
========== ============================== =========================================================
train      the user's before each target  none: each event before the day of the validation is learnt
validation the user's before its day      the user's of that day
test       the user's before its day      the user's of that day
---------- ------------------------------ ---------------------------------------------------------
learnt     trained models: events before the day of the validation only
counted    popularity at test: events of every user before the day of the test
========== ========================================================================================

Nothing of the day, and so nothing at or after a target's instant, is visible to what predicts it. A question
is asked at the time of the user's first event of the day. Asked are users with an event before the day and
one on it; they may be others in validation than in the test.

A day begins at one instant for everybody: midnight in the log's zone where one zone holds for the whole log,
and midnight UTC otherwise, users' own zones or not (see `dates`).

Source: the Shop protocol of the T-RoPE paper, section 5.2: "training on interactions before the holdout date,
every meaningful interaction on the held-out day counting as a positive". That paper says nothing of a
validation; here it is the day before, which training then does not learn from.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar

import numpy as np

from rota.data.log import Log
from rota.data.splits.base import Splitter, settle_stages
from rota.data.splits.dates import day_starts, last_day, require_dates
from rota.data.splits.moments import before_all, rows_from
from rota.errors import InputError
from rota.histories import Spans, Stages
from rota.types import BoolArray, Int64Array


@dataclass(frozen=True)
class HoldoutDay(Splitter):
    """All events of one day test, those of the day before it validate.

    Attributes:
        day: The day, for instance ``"2018-04-01"``; by default the last one that is over when the log ends,
            which is the day before its last event's.
    """

    day: str | None = None
    name: ClassVar[str] = "holdout_day"

    def __post_init__(self) -> None:
        if self.day is not None:
            _read(self.day)

    def askable(self, log: Log) -> BoolArray:
        """Everybody: who cannot be asked is learnt from."""
        return np.ones(log.num_users, dtype=np.bool_)

    def stages(self, log: Log) -> Stages:
        """Split every user's history at midnight; the module says what each stage may see.

        Raises:
            InputError: The log has no dates, or nobody is left to learn from or to ask.
        """
        require_dates(log, "a day to hold out")
        day = last_day(log) if self.day is None else _read(self.day)
        before, begin, end = (
            rows_from(log, day_starts(day + timedelta(days=days), log)) for days in (-1, 0, 1)
        )
        return settle_stages(
            self.name,
            log,
            train=before_all(log, before),
            validation=_asked(log, before, begin),
            test=_asked(log, begin, end),
            counted=before_all(log, begin),
        )


def _asked(log: Log, starts: Int64Array, stops: Int64Array) -> Spans:
    """Users with a history before ``start`` and positives: events from there up to ``stop``."""
    users = np.flatnonzero((starts > log.offsets[:-1]) & (stops > starts))
    return Spans(users, log.offsets[users], starts[users], stops[users])


def _read(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(f'day {text!r}: expected a date, for instance "2018-04-01"') from None
