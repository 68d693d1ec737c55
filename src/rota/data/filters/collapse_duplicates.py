"""CollapseDuplicates: one event where the log has the same one several times."""

from dataclasses import dataclass

from rota.data.events import Events
from rota.data.filters._enough import among
from rota.data.filters._instants import first_rows
from rota.data.filters.base import Filter


@dataclass(frozen=True)
class CollapseDuplicates(Filter):
    """Keep one event, that of the first row, of those of one user with one item at one time."""

    def apply(self, events: Events) -> Events:
        """Those events, with the rows as they were."""
        return events.having(among(events.table, "row", first_rows(events.table)))
