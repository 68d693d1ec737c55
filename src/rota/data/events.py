"""Events: a log as a table that is still to be computed, before it is put in order."""

from dataclasses import dataclass, replace

import ibis.expr.types as ir

from rota.choice import Choice
from rota.units import Unit

__all__ = ["Events", "Ties"]

COLUMNS = ("user", "item", "time", "row")
ZONE, OFFSET = "zone", "offset"


class Ties(Choice):
    """What orders a user's events of one instant.

    Attributes:
        ROWS: Their order in the file.
        COLUMN: A column of the source that says so.
        UNORDERED: Nothing: they are a basket, and its order in the arrays, by item, means nothing.
    """

    ROWS = "rows"
    COLUMN = "column"
    UNORDERED = "unordered"

    @property
    def in_words(self) -> str:
        """How a table of facts says it."""
        return {
            Ties.ROWS: "in the order of the rows",
            Ties.COLUMN: "in the order of a column",
            Ties.UNORDERED: "in no order",
        }[self]


@dataclass(frozen=True)
class Events:
    """A log of one type a column, still in the order of its source, computed by the database when asked.

    Attributes:
        table: Columns ``user`` and ``item`` (int64, uint64, string, date or timestamp, without nulls),
            ``time`` (int64 ticks of ``unit``), ``row`` (int64, unique: the order in the source); with local
            times by row also ``zone`` (string) or ``offset`` (int64, seconds east of UTC). What is computed
            from it must not rely on any order of its rows.
        name: File, source or DataFrame, short.
        where: The same for messages, with the path.
        unit: Unit of ``time``.
        unit_stated: The unit was stated or is part of the column's type; otherwise inferred.
        absolute: ``time`` counts from 1970 in UTC; otherwise it is the reading of a wall clock, taken for it.
        known_epoch: False where times count from an unknown zero: they have no dates and no hours.
        zone: Time zone of the whole log, if one is known.
        ties: What orders events of one instant.
        rows: Rows of the source.
        dropped: Rows without a user or an item.
        skipped: Rows that could not be read and were skipped, as asked.
    """

    table: ir.Table
    name: str
    where: str
    unit: Unit
    unit_stated: bool = True
    absolute: bool = True
    known_epoch: bool = True
    zone: str | None = None
    ties: Ties = Ties.ROWS
    rows: int = 0
    dropped: int = 0
    skipped: int = 0

    def having(self, table: ir.Table) -> "Events":
        """The same log with fewer rows: ``table`` has the same columns."""
        return replace(self, table=table)
