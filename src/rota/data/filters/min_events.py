"""MinEvents: only users with enough events to learn from and to test on."""

from dataclasses import dataclass

from rota.data.events import Events
from rota.data.filters._enough import among, frequent, require_count
from rota.data.filters.base import Filter


@dataclass(frozen=True)
class MinEvents(Filter):
    """Keep users with at least ``least`` events.

    Counted once, on users alone: no item is dropped for being rare, so no history loses events.

    Attributes:
        least: Events that a user must have.

    Raises:
        InputError: ``least`` is under 1.
    """

    least: int = 5

    def __post_init__(self) -> None:
        require_count("least", self.least)

    def apply(self, events: Events) -> Events:
        """The events of those users."""
        table = events.table
        return events.having(among(table, "user", frequent(table, "user", self.least)))
