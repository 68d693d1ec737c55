"""Leave-last-k: each user's last k events test, the k before them validate, the rest trains.

What each stage may see, for a user with events ``e[0] .. e[n - 1]`` in the log's order:

========== ====================== ===================== =========================================
stage      history (items, times) events predicted      of a predicted event, known beforehand
========== ====================== ===================== =========================================
train      e[0] .. e[n - 2k - 1]  each from e[1]        its time, if time access is "request"
validation e[0] .. e[i - 1]       each of i = n - 2k .. its time, if time access is "request"
test       e[0] .. e[i - 1]       each of i = n - k ..  its time, if time access is "request"
---------- ---------------------- --------------------- -----------------------------------------
learnt     trained models: e[0] .. e[n - 2k - 1] only
counted    popularity at test: e[0] .. e[n - k - 1] of every user
========== ======================================================================================

Each of the k events is asked for by itself, one after another, with all that came before it: that is
next-item prediction, as serving would do it. Figures are averaged within a user first. With ``k = 1`` this is
leave-one-out. The validation events are in the histories of the test: no trained model learns its weights
from them, and a baseline that counts events (popularity: those of all users) counts them too.

Where ties have no order, an instant takes the place of an event: the k last instants test, the events of one
are a set of positives, and a history never holds part of the instant that is asked for.

Training holds other users' events that are later than a user's test event: the split is by user, not by
date, so what is popular when a test happens can be learnt. It is the same for every arm.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rota.data.events import Ties
from rota.data.log import Log
from rota.data.splits.base import Splitter, settle_stages
from rota.data.splits.moments import Moments, before_all
from rota.errors import InputError
from rota.histories import Spans, Stages
from rota.types import BoolArray, Int64Array


@dataclass(frozen=True)
class LeaveLast(Splitter):
    """The last k events of every user test, the k before them validate.

    Attributes:
        k: Events, or instants where ties have no order. The stages are named ``leave_one_out`` for 1, and
            ``leave_last_k`` with its number otherwise.
    """

    k: int = 1
    name: ClassVar[str] = "leave_last"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"k {self.k}: expected at least 1 event of each user to be left out")

    def askable(self, log: Log) -> BoolArray:
        """Users with ``2k + 1`` events (instants, where ties have no order) or more."""
        return np.asarray(Moments.of(log).counts(log) >= 2 * self.k + 1)

    def stages(self, log: Log) -> Stages:
        """Split every user's history; the module says what each stage may see.

        Args:
            log: Events, at least ``2k + 1`` (instants, where ties have no order) of every user.

        Raises:
            InputError: A user has fewer.
        """
        moments = Moments.of(log)
        self._check(log, moments.counts(log))
        borders = [log.offsets[1:]]  # of the last pieces of each user, from the end
        for _ in range(2 * self.k):
            borders.append(moments.before(borders[-1]))
        return settle_stages(
            "leave_one_out" if self.k == 1 else f"leave_last_{self.k}",
            log,
            train=before_all(log, borders[2 * self.k]),
            validation=_asked(log, borders[self.k :]),
            test=_asked(log, borders[: self.k + 1]),
            counted=before_all(log, borders[self.k]),
        )

    def _check(self, log: Log, counts: Int64Array) -> None:
        least = 2 * self.k + 1
        few = np.flatnonzero(counts < least)
        if len(few):
            what = "instants" if log.about.ties == Ties.UNORDERED else "events"
            raise InputError(
                f"leave-last-{self.k} needs {least} {what} of every user: user "
                f"{log.user_ids[int(few[0])].as_py()!r} has {counts[few[0]]}, and {len(few)} of "
                f"{len(counts)} users have too few: keep users with enough events first (MinEvents({least}))"
            )


def _asked(log: Log, borders: list[Int64Array]) -> Spans:
    """Each piece between two borders of a user is asked for, in the order of users, then time."""
    by_user = np.stack(borders[::-1], axis=1)
    asked = by_user.shape[1] - 1
    users = np.repeat(np.arange(log.num_users), asked)
    return Spans(users, log.offsets[users], by_user[:, :-1].ravel(), by_user[:, 1:].ravel())
