"""Which columns of a table are the user, the item and the time."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rota.errors import InputError

__all__ = ["Columns"]

ROW = "rota_row"  # a column of our own beside the source's: improbable enough to be free
_SHOWN = 30
_NEEDED = ("user", "item", "time")


class Columns(NamedTuple):
    """Names of the columns that make a log.

    Attributes:
        user: Column with the id of who acted.
        item: Column with the id of what was acted on.
        time: Column with the time of the event.
        order: Column that orders a user's events of one instant, if any.
        zone: Column with the user's time zone at the event, if any.
        offset: Column with the user's minutes east of UTC at the event, if any.
    """

    user: str
    item: str
    time: str
    order: str | None = None
    zone: str | None = None
    offset: str | None = None

    def present(self) -> Mapping[str, str]:
        """Column by role, for the roles that have one."""
        return {role: name for role, name in self._asdict().items() if name is not None}


class Wanted(NamedTuple):
    """Names of the columns as they were given; ``None`` where one was not."""

    user: str | None = None
    item: str | None = None
    time: str | None = None
    order: str | None = None
    zone: str | None = None
    offset: str | None = None

    def or_else(self, known: Columns) -> "Wanted":
        """Fill what was not given with what a source knows."""
        return Wanted(*(given or other for given, other in zip(self, known, strict=True)))


def choose_columns(wanted: Wanted, names: Sequence[str], where: str) -> Columns:
    """Check that the columns are named, differ, and exist.

    Args:
        wanted: The names given.
        names: Columns that the source has.
        where: The source, for the message.

    Raises:
        InputError: One is not given, is absent, occurs twice, or is used for two things.
    """
    held = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    for role, name in wanted._asdict().items():
        if name is None and role in _NEEDED:
            raise InputError(
                f"{where}: which column is the {role}? expected {role}= (--{role}); it has the columns {held}"
            )
        if name is not None and name not in names:
            raise InputError(f"{where}: no column {name!r} for the {role}; it has the columns {held}")
        if name is not None and names.count(name) > 1:
            raise InputError(f"{where}: {names.count(name)} columns are named {name!r}: rename all but one")
    used = {role: name for role, name in wanted._asdict().items() if name is not None}
    if len(set(used.values())) < len(used):
        given = ", ".join(f"{role} {name!r}" for role, name in used.items())
        raise InputError(f"{where}: {given}: expected different columns; it has the columns {held}")
    _check_spelling(list(used.values()), where)
    if wanted.zone is not None and wanted.offset is not None:
        raise InputError(
            f"{where}: a zone column {wanted.zone!r} and an offset column {wanted.offset!r}: give one of them"
        )
    return Columns(*wanted)  # type: ignore[arg-type]


def _check_spelling(used: Sequence[str], where: str) -> None:
    """Refuse names that the database, to which case means nothing, would confuse."""
    spelt: dict[str, str] = {}
    for name in used:
        if name.lower() == ROW:
            raise InputError(
                f"{where}: a column {name!r}: expected another name, for this one is ours; rename it"
            )
        other = spelt.setdefault(name.lower(), name)
        if other != name:
            raise InputError(
                f"{where}: columns {other!r} and {name!r}: expected names that differ "
                "in more than case; rename one"
            )
