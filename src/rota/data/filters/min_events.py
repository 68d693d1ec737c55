"""MinEvents: only users with enough events to learn from and to test on."""

from dataclasses import dataclass

import numpy as np

from rota.data.filters.base import Filter
from rota.data.log import Log
from rota.errors import InputError


@dataclass(frozen=True)
class MinEvents(Filter):
    """Keep users with at least ``least`` events.

    Counted once, on users alone: no item is dropped for being rare, so no history loses events.

    Attributes:
        least: Events that a user must have.
    """

    least: int = 5

    def apply(self, log: Log) -> Log:
        """The events of those users.

        Raises:
            InputError: There is no such user.
        """
        counts = np.bincount(log.users, minlength=log.num_users)
        chosen = np.flatnonzero(counts >= self.least)
        if not len(chosen):
            raise InputError(
                f"{log.name}: no user has at least {self.least} events (the most is {counts.max()}, of "
                f"{log.num_users} users): lower the least number of events or use a longer log"
            )
        return log if len(chosen) == log.num_users else log.of_users(chosen)
