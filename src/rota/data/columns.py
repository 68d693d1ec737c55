"""Which columns of a table are the user, the item and the time."""

from collections.abc import Sequence
from typing import NamedTuple

from rota.errors import InputError

__all__ = ["Columns"]

_SHOWN = 30


class Columns(NamedTuple):
    """Names of the three columns that make a log.

    Attributes:
        user: Column with the id of who acted.
        item: Column with the id of what was acted on.
        time: Column with the time of the event.
    """

    user: str
    item: str
    time: str


class Wanted(NamedTuple):
    """Names of the columns as they were given; ``None`` where one was not."""

    user: str | None
    item: str | None
    time: str | None

    def or_else(self, known: Columns) -> "Wanted":
        """Fill what was not given with what a source knows."""
        return Wanted(self.user or known.user, self.item or known.item, self.time or known.time)


def choose_columns(wanted: Wanted, names: Sequence[str], where: str) -> Columns:
    """Check that the three columns are named, differ, and exist.

    Args:
        wanted: The names given.
        names: Columns that the source has.
        where: The source, for the message.

    Raises:
        InputError: One is not given, is absent, occurs twice, or is used for two things.
    """
    held = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    for role, name in wanted._asdict().items():
        if name is None:
            raise InputError(
                f"{where}: which column is the {role}? expected {role}= (--{role}); it has the columns {held}"
            )
        if name not in names:
            raise InputError(f"{where}: no column {name!r} for the {role}; it has the columns {held}")
        if names.count(name) > 1:
            raise InputError(f"{where}: {names.count(name)} columns are named {name!r}: rename all but one")
    if len(set(wanted)) < len(wanted):
        given = ", ".join(f"{role} {name!r}" for role, name in wanted._asdict().items())
        raise InputError(f"{where}: {given}: expected three different columns; it has the columns {held}")
    return Columns(*map(str, wanted))
