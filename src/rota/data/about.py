"""About: what was read, what was kept of it, and how its clock is to be understood."""

from dataclasses import dataclass

from rota.data.events import Ties
from rota.units import Unit

__all__ = ["About", "Step"]


@dataclass(frozen=True)
class Step:
    """What one step of the preparation left.

    Attributes:
        label: What was done, for instance ``"k_core(5)"``.
        events: Events left.
        users: Users left.
        items: Items left.
    """

    label: str
    events: int
    users: int
    items: int


@dataclass(frozen=True)
class About:
    """What a log was made of.

    Attributes:
        name: File, source or DataFrame.
        unit: Unit of the times.
        unit_stated: The unit was stated or is part of the column's type; otherwise inferred.
        absolute: Times count from 1970 in UTC; otherwise they are readings of a wall clock, counted as if.
        known_epoch: False where times count from an unknown zero: no dates, no hours of the day.
        zone: Time zone of the users, or ``"by row"``; ``None`` where none is known.
        ties: What orders events of one instant.
        rows: Rows read from the source, whatever was dropped, filtered or left out of a sample since.
        dropped: Rows without a user or an item.
        skipped: Rows that could not be read and were skipped, as asked.
        steps: What each step left, the first being what was read.
    """

    name: str
    unit: Unit
    unit_stated: bool = True
    absolute: bool = True
    known_epoch: bool = True
    zone: str | None = None
    ties: Ties = Ties.ROWS
    rows: int = 0
    dropped: int = 0
    skipped: int = 0
    steps: tuple[Step, ...] = ()
