"""FirstInteraction: each user's first event with each item."""

from dataclasses import dataclass

from rota.data.events import Events
from rota.data.filters._enough import among
from rota.data.filters._instants import first_rows
from rota.data.filters.base import Filter


@dataclass(frozen=True)
class FirstInteraction(Filter):
    """Keep each user's first event with each item, by time and, within an instant, by row.

    Protocols that recommend what a user has not had yet need no repeats. Routines live in repeats: do not use
    it where they are studied.
    """

    def apply(self, events: Events) -> Events:
        """Those events."""
        once = first_rows(events.table)  # their times differ, so the earliest has one row
        firsts = once.group_by("user", "item").aggregate(row=once.row.argmin(once.time))
        return events.having(among(events.table, "row", firsts))
