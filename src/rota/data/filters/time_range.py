"""TimeRange: only the events of a period."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rota.data.events import Events
from rota.data.filters.base import Filter
from rota.errors import InputError
from rota.units import ticks_per_second

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAMES = ("since", "until")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_TOO_FINE = re.compile(r"[.,][0-9]{7}")  # Python would cut it to microseconds and say nothing


@dataclass(frozen=True)
class TimeRange(Filter):
    """Keep the events from one time until another; that of ``until`` itself is out.

    Text is ISO 8601, for instance ``"2012-04-01"`` (its first instant) or ``"2012-04-01T12:00:00+02:00"``;
    without an offset it is UTC, or the wall clock where the log's times are readings of one. Numbers count
    in the log's own unit, from its own zero.

    Attributes:
        since: The first time that is kept; ``None`` for no such limit.
        until: The first time that is no longer kept; ``None`` for no such limit.

    Raises:
        InputError: Neither is given, one cannot be read, or ``since`` is not before ``until``.
    """

    since: str | int | None = None
    until: str | int | None = None

    def __post_init__(self) -> None:
        given = [getattr(self, name) for name in _NAMES if getattr(self, name) is not None]
        if not given:
            raise InputError("time range without since and until keeps everything: give one, or leave it out")
        for name in _NAMES:
            _check(name, getattr(self, name))
        if len({type(value) for value in given}) == 1:  # a date and a number compare once the unit is known
            self._check_order(*(_instant(value) if isinstance(value, str) else value for value in given))

    def apply(self, events: Events) -> Events:
        """The events of the period.

        Raises:
            InputError: Dates where the log counts from an unknown zero, an offset where it shows a wall
                clock, or no tick of the log's clock lies in between.
        """
        limits = {name: _ticks(name, getattr(self, name), events) for name in _NAMES}
        since, until = limits["since"], limits["until"]
        self._check_order(*(limit for limit in (since, until) if limit is not None))
        table = events.table
        if since is not None:
            table = table.filter(table.time >= since)
        if until is not None:
            table = table.filter(table.time < until)
        return events.having(table)

    def _check_order(self, first: datetime | int, second: datetime | int | None = None) -> None:
        if second is not None and not first < second:  # type: ignore[operator]
            raise InputError(
                f"time range since {self.since!r} until {self.until!r} holds no time: expected since before "
                "until; exchange them or move one"
            )


def _check(name: str, given: object) -> None:
    """Refuse what is no time at all."""
    if isinstance(given, str):
        _instant_of(name, given)
    elif given is not None and (isinstance(given, bool) or not isinstance(given, int)):
        raise InputError(
            f'{name} {given!r}: expected ISO 8601 text, for instance "2012-04-01", or a whole number in the '
            "log's unit"
        )


def _instant(text: str) -> datetime:
    """The instant of an ISO text; without an offset in UTC."""
    read = datetime.fromisoformat(text)
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)


def _instant_of(name: str, text: str) -> datetime:
    try:
        if _TOO_FINE.search(text) is None:
            return _instant(text)
    except ValueError:
        pass
    raise InputError(
        f'{name} {text!r}: expected ISO 8601 to the microsecond, for instance "2012-04-01" or '
        '"2012-04-01T12:00:00+02:00", or a whole number in the log\'s unit'
    )


def _ticks(name: str, given: str | int | None, events: Events) -> int | None:
    """A limit in ticks of the log, rounded up: an event is at or after it if its tick is."""
    if given is None:
        return None
    if isinstance(given, int) and events.known_epoch and _meant_as_date(given):
        raise InputError(
            f"{events.name}: {name} {given}: for a date write it in full, for instance 2024-01-01; a whole "
            f"number is ticks of unit {events.unit!r} since 1970"
        )
    if isinstance(given, str):
        _check_dates(name, given, events)
        microseconds = (_instant(given) - _EPOCH) // timedelta(microseconds=1)
        given = -(-microseconds * ticks_per_second(events.unit) // 10**6)
    return max(_SMALLEST, min(given, _LARGEST))  # beyond int64 there is no event


def _meant_as_date(number: int) -> bool:
    """Whether a number is a year, or year, month and day in a row; as ticks it would be a day of 1970."""
    year, month, day = number // 10_000, number // 100 % 100, number % 100
    return 1900 <= number <= 2200 or (1900 <= year <= 2200 and 1 <= month <= 12 and 1 <= day <= 31)


def _check_dates(name: str, text: str, events: Events) -> None:
    if not events.known_epoch:
        raise InputError(
            f"{events.name} counts time from an unknown zero, so {name} {text!r} names no time in it: give a "
            f"whole number in unit {events.unit!r}"
        )
    if not events.absolute and datetime.fromisoformat(text).tzinfo is not None:
        raise InputError(
            f"{events.name}: {name} {text!r} has an offset, but the times are readings of a wall clock: "
            "leave the offset out"
        )
