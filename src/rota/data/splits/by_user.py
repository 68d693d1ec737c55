"""By user: some users test, others validate, and only the rest are learnt from.

What each stage may see, for a user with events ``e[0] .. e[n - 1]`` in the log's order:

========== ================ ======================= ===========================================
stage      users            history (items, times)  event predicted
========== ================ ======================= ===========================================
train      training users   e[0] .. e[n - 1]        each from e[1]
validation validation users e[0] .. e[n - 2]        e[n - 1]
test       test users       e[0] .. e[n - 2]        e[n - 1]
---------- ---------------- ----------------------- -------------------------------------------
learnt     trained models: all events of training users, none of others
counted    popularity at test: the same
========== ====================================================================================

No user is in two stages. It asks how well a model serves people whom it never met, given their histories.
Where ties have no order, a user's last instant takes the place of the last event, and its events are a set of
positives. Training holds events that are later than a test event: the split is by user, not by date.

Source: the split that Liang et al., Variational Autoencoders for Collaborative Filtering, WWW 2018, call
strong generalization; there a random part of a held-out history is asked for, here the last event.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rota.data.log import Log
from rota.data.splits.base import Splitter, settle_stages
from rota.data.splits.moments import Moments
from rota.errors import InputError
from rota.histories import Spans, Stages
from rota.types import BoolArray, Int64Array

_LEAST = 2


@dataclass(frozen=True)
class ByUser(Splitter):
    """Users are drawn at random into training, validation and test.

    Attributes:
        test: Share of the users who test; they are drawn from those with two events (or instants) or more.
        validation: Share of the users who validate; likewise.
        seed: Seed of the draw among those users, in the order of their ids.
    """

    test: float = 0.1
    validation: float = 0.1
    seed: int = 0
    name: ClassVar[str] = "by_user"

    def __post_init__(self) -> None:
        for what, share in (("test", self.test), ("validation", self.validation)):
            if not 0 < share < 1:
                raise InputError(f"{what} {share}: expected a share of the users between 0 and 1")
        if not self.test + self.validation < 1:
            raise InputError(
                f"test {self.test} and validation {self.validation}: expected a sum below 1, so that users "
                "remain to learn from"
            )

    def askable(self, log: Log) -> BoolArray:
        """Everybody: who cannot be asked is learnt from."""
        return np.ones(log.num_users, dtype=np.bool_)

    def stages(self, log: Log) -> Stages:
        """Draw users for each stage; the module says what each may see.

        Raises:
            InputError: Nobody is left to learn from or to ask.
        """
        moments = Moments.of(log)
        able = np.flatnonzero(moments.counts(log) >= _LEAST)
        drawn = np.random.default_rng(self.seed).permutation(able)
        wanted = [round(share * log.num_users) for share in (self.test, self.validation)]
        if sum(wanted) > len(able):
            raise InputError(
                f"{log.name}: {sum(wanted)} users to be asked and {len(able)} of {log.num_users} have "
                f"{_LEAST} events or instants: lower the shares of test and validation"
            )
        test, validation, _ = (np.sort(part) for part in np.split(drawn, np.cumsum(wanted)))
        rest = np.setdiff1d(np.arange(log.num_users), np.concatenate([test, validation]))
        train = Spans(rest, log.offsets[rest], log.offsets[rest + 1], log.offsets[rest + 1])
        return settle_stages(
            self.name,
            log,
            train=train,
            validation=_asked(log, moments, validation),
            test=_asked(log, moments, test),
            counted=train,
        )


def _asked(log: Log, moments: Moments, users: Int64Array) -> Spans:
    ends = log.offsets[users + 1]
    return Spans(users, log.offsets[users], moments.before(ends), ends)
