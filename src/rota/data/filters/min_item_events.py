"""MinItemEvents: only items that occur often enough to be learnt."""

from dataclasses import dataclass

from rota.data.events import Events
from rota.data.filters._enough import among, frequent, require_count
from rota.data.filters.base import Filter


@dataclass(frozen=True)
class MinItemEvents(Filter):
    """Keep items with at least ``least`` events.

    Counted once, on items alone: histories lose the events with rare items, and some users may be left with
    few events or none. `KCore` asks for both at once.

    Attributes:
        least: Events that an item must have.

    Raises:
        InputError: ``least`` is under 1.
    """

    least: int = 5

    def __post_init__(self) -> None:
        require_count("least", self.least)

    def apply(self, events: Events) -> Events:
        """The events with those items."""
        table = events.table
        return events.having(among(table, "item", frequent(table, "item", self.least)))
