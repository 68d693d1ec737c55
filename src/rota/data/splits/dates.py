"""Dates and instants as people write them, to ticks of a log's own clock.

Borders of a split are instants, the same for everybody. An instant without an offset is UTC, as in a filter
by time. A day is a day of people: it begins at midnight in the log's zone where one zone holds for the whole
log, and in UTC otherwise. A midnight by each user's own clock would be many instants, and what happened after
it in one place could be learnt from in another.
"""

import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rota.data.log import Log
from rota.errors import InputError
from rota.units import ticks_per_second

__all__: list[str] = []

_BY_ROW = "by row"
_EPOCH = datetime(1970, 1, 1)
_LARGEST = 2**63 - 1
_TOO_FINE = re.compile(r"[.,][0-9]{7}")  # Python would cut it to microseconds and say nothing


def instant_of(given: str | float, log: Log, what: str) -> int:
    """An instant in ticks of the log; an event at it is already beyond it.

    Args:
        given: ISO 8601 text, for instance ``"2018-04-01"``, or a share of the events: 0.8 is the first
            instant such that at most 80 % of all events come before it.
        log: Events.
        what: Name of the border, for messages.

    Raises:
        InputError: It cannot be read, is no share, or the log has no dates.
    """
    if isinstance(given, str):
        return _of_text(given, log, what)
    if not 0 < given < 1:
        raise InputError(f'{what} {given}: expected a share between 0 and 1, or a date such as "2018-04-01"')
    place = int(given * len(log))
    return int(np.partition(log.times, place)[place])


def day_starts(day: date, log: Log) -> int:
    """First tick of a day, in the log's zone or in UTC."""
    midnight, zone = datetime(day.year, day.month, day.day), _zone(log)
    if zone is None:
        return _ticks(midnight, log)
    # Where summer time skips midnight the day begins after the gap, and where it repeats, with the first.
    local = pa.scalar(midnight, pa.timestamp("us"))
    begins = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="latest")
    return _ticks(_EPOCH + timedelta(microseconds=begins.cast(pa.int64()).as_py()), log)


def last_day(log: Log) -> date:
    """The last day that is over when the log ends: the day before that of the last event."""
    last, zone = int(log.times.max()), _zone(log)
    if zone is not None:
        shown = pc.local_timestamp(pa.scalar(last, pa.timestamp(log.about.unit, zone)))
        last = shown.cast(pa.int64()).as_py()
    days = last // (86_400 * ticks_per_second(log.about.unit))
    return _EPOCH.date() + timedelta(days=days - 1)


def require_dates(log: Log, what: str) -> None:
    """Refuse a log whose times count from an unknown zero.

    Raises:
        InputError: It is one.
    """
    if not log.about.known_epoch:
        raise InputError(
            f"{log.name} counts time from an unknown zero and {what} needs dates: "
            "split by shares of the events instead, for instance Temporal(test=0.9, validation=0.8)"
        )


def spelt(instant: int, log: Log) -> str:
    """An instant for messages."""
    if not log.about.known_epoch:
        return f"{instant} {log.about.unit}"
    return f"{np.datetime64(instant, log.about.unit)}{' UTC' if log.about.absolute else ''}"


def _of_text(text: str, log: Log, what: str) -> int:
    require_dates(log, f"{what} {text!r}")
    read = None
    with suppress(ValueError):
        read = None if _TOO_FINE.search(text) else datetime.fromisoformat(text)
    if read is None:
        raise InputError(
            f'{what} {text!r}: expected ISO 8601 to the microsecond, for instance "2018-04-01" or '
            '"2018-04-01T12:00+02:00", or a share of the events, for instance 0.9'
        )
    if read.tzinfo is not None and not log.about.absolute:
        raise InputError(
            f"{what} {text!r}: the times of {log.name} are readings of a wall clock: leave the offset out"
        )
    return _ticks(read, log)


def _ticks(read: datetime, log: Log) -> int:
    """Ticks of an instant, rounded up: an event is at or after it if its tick is."""
    utc = read if read.tzinfo is None else read.astimezone(UTC).replace(tzinfo=None)
    microseconds = (utc - _EPOCH) // timedelta(microseconds=1)
    ticks = -(-microseconds * ticks_per_second(log.about.unit) // 10**6)
    return max(-_LARGEST, min(ticks, _LARGEST))  # beyond int64 there is no event


def _zone(log: Log) -> str | None:
    """The one zone in which the log's days begin; ``None`` where its own times are read as they are."""
    about = log.about
    return about.zone if about.absolute and about.zone != _BY_ROW else None
