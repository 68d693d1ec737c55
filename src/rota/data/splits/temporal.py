"""Global temporal: one instant for all begins the test, another the validation.

What each stage may see, by the instants ``validation - gap``, ``validation``, ``test - gap`` and ``test``:

========== ============================= ======================================================
stage      history of a target at t      targets
========== ============================= ======================================================
train      the user's before t           all before validation - gap, but a user's first
validation the user's before t           from validation on, before test - gap
test       the user's before t           from test on
---------- ----------------------------- ------------------------------------------------------
learnt     trained models: events before validation - gap only
counted    popularity at test: events of every user before test - gap
========== ====================================================================================

Nothing at or after a target's instant is visible to what predicts it, of any user. That holds for events of
one instant too, whatever orders them: they are one set of positives, asked for together. What is counted or
learnt for the test ends at least a gap before it, as where a model is trained some time before it serves; a
user's own history has no gap. The catalogue is that of the whole log: items that first occur after the test
begins are candidates, too.

Which events are targets: ``"first"`` asks each user for his first instant in the period, one question each;
``"all"`` for every instant, one after another with all before it as history (rolling). Asked are users who
are known when the period begins, with at least ``warm_up`` events before it.

Source of the options: Gusak et al., Time to Split: Exploring Data Splitting Strategies for Offline Evaluation
of Sequential Recommenders, RecSys 2025.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rota.choice import Choice
from rota.data.log import Log
from rota.data.splits.base import Splitter, settle_stages
from rota.data.splits.dates import instant_of, spelt
from rota.data.splits.moments import before_all, instant_rows, rows_from
from rota.errors import InputError
from rota.histories import Spans, Stages, flat_rows
from rota.types import BoolArray, Duration, Int64Array
from rota.units import seconds, ticks_per_second

__all__ = ["Targets", "Temporal"]


class Targets(Choice):
    """Which of a user's events in a period are asked for.

    Attributes:
        FIRST: Those of his first instant in it.
        ALL: Those of every instant, one after another.
    """

    FIRST = "first"
    ALL = "all"


@dataclass(frozen=True)
class Temporal(Splitter):
    """What happens from one instant on tests, what happens in the period before it validates.

    Attributes:
        test: Instant as ISO 8601 text (without an offset in UTC, or on the wall clock where the log's times
            are readings of one), or share of the events that come before it.
        validation: Likewise; before ``test``.
        warm_up: Events that a user needs before a period to be asked in it, at least 1.
        gap: Time between what is learnt from and what is asked for, before either instant; "0s" for none.
        targets: ``"first"`` or ``"all"``.
    """

    test: str | float = 0.9
    validation: str | float = 0.8
    warm_up: int = 1
    gap: Duration = "0s"
    targets: Targets | str = Targets.FIRST
    name: ClassVar[str] = "temporal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "targets", Targets.parse(self.targets))
        if self.warm_up < 1:
            raise InputError(f"warm_up {self.warm_up}: expected at least 1 event before a period")
        self._gap("s")

    def askable(self, log: Log) -> BoolArray:
        """Everybody: who cannot be asked is learnt from."""
        return np.ones(log.num_users, dtype=np.bool_)

    def stages(self, log: Log) -> Stages:
        """Split every user's history at the same instants; the module says what each stage may see.

        Raises:
            InputError: An instant cannot be read, validation and gap do not end before the test, or nobody
                is left to learn from or to ask.
        """
        gap = self._gap(log.about.unit)
        validation = instant_of(self.validation, log, "validation")
        test = instant_of(self.test, log, "test")
        if not validation < test - gap:
            raise InputError(
                f"{log.name}: validation begins at {spelt(validation, log)} and the test at "
                f"{spelt(test, log)}: expected validation first, and more than the gap ({self.gap}) between; "
                "move one of them or shorten the gap"
            )
        return settle_stages(
            self.name,
            log,
            train=before_all(log, rows_from(log, validation - gap)),
            validation=self._asked(log, rows_from(log, validation), rows_from(log, test - gap)),
            test=self._asked(log, rows_from(log, test), log.offsets[1:]),
            counted=before_all(log, rows_from(log, test - gap)),
        )

    def _asked(self, log: Log, starts: Int64Array, stops: Int64Array) -> Spans:
        """Questions about each user's instants among his rows ``start`` up to ``stop``."""
        begins = instant_rows(log)
        ends = np.append(begins[1:], len(log))
        warm = starts - log.offsets[:-1] >= self.warm_up
        first, last = np.searchsorted(begins, starts[warm]), np.searchsorted(begins, stops[warm])
        if self.targets == Targets.FIRST:
            last = np.minimum(last, first + 1)
        users = np.repeat(np.flatnonzero(warm), last - first)
        asked = flat_rows(first, last)
        return Spans(users, log.offsets[users], begins[asked], ends[asked])

    def _gap(self, unit: str) -> int:
        if self.gap in (0, "0s"):
            return 0
        return math.ceil(seconds(self.gap) * ticks_per_second(unit))
