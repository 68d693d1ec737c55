"""Leave-one-out: each user's last event tests, the one before it validates, the rest trains.

What each stage may see, for a user with events ``e[0] .. e[n - 1]`` in the log's order:

========== ====================== =============== =========================================
stage      history (items, times) event predicted  of the predicted event, known beforehand
========== ====================== =============== =========================================
train      e[0] .. e[n - 3]       each from e[1]  its time, if time access is "request"
validation e[0] .. e[n - 3]       e[n - 2]        its time, if time access is "request"
test       e[0] .. e[n - 2]       e[n - 1]        its time, if time access is "request"
---------- ---------------------- --------------- -----------------------------------------
learnt     trained models: e[0] .. e[n - 3] only; untrained baselines at test: e[0] .. e[n - 2]
========== ================================================================================

The validation event is in the history of the test, as it would be when serving: no trained model learns
its weights from it, and a baseline that counts events (popularity: those of all users) counts it too.
Training holds other users' events that are later than a user's test event: the split is by user, not by
date, so what is popular when a test happens can be learnt. It is the same for every arm.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from rota.data.splits.base import Splitter, split_digest
from rota.errors import InputError
from rota.histories import Histories, Spans, Stages
from rota.types import Int64Array

_LEAST = 3


@dataclass(frozen=True)
class LeaveOneOut(Splitter):
    """The last event of every user tests, the one before it validates."""

    name: ClassVar[str] = "leave_one_out"

    def stages(self, histories: Histories, user_ids: pa.Array, item_ids: pa.Array) -> Stages:
        """Split every user's history; the module says what each stage may see.

        Args:
            histories: All users' events, oldest first; at least three a user.
            user_ids: Ids by user code, for the digest; shape ``(users,)``.
            item_ids: Ids by item code, for the digest; shape ``(items,)``.

        Raises:
            InputError: A user has fewer than three events.
        """
        starts = np.array(histories.offsets[:-1])
        ends = np.array(histories.offsets[1:])
        _check(ends - starts, user_ids)
        users = np.arange(len(starts), dtype=np.int64)
        train = Spans(users, starts, ends - 2)
        validation = Spans(users, starts, ends - 2)
        test = Spans(users, starts, ends - 1)
        targets = np.concatenate([validation.stops, test.stops])
        digest = split_digest(self.name, histories, np.tile(users, 2), targets, user_ids, item_ids)
        return Stages(self.name, train, validation, test, digest)


def _check(counts: Int64Array, user_ids: pa.Array) -> None:
    few = np.flatnonzero(counts < _LEAST)
    if len(few):
        raise InputError(
            f"leave-one-out needs {_LEAST} events of every user: user {user_ids[int(few[0])].as_py()!r} has "
            f"{counts[few[0]]}, and {len(few)} of {len(counts)} users have too few: keep users with enough "
            f"events first (MinEvents({_LEAST}))"
        )
