"""Wall clocks of time zones to Unix time, by the zones' real rules."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from rota.errors import InputError
from rota.types import Int64Array

__all__: list[str] = []

_MARGIN = 3 * 86_400  # s around the span: habits of its last day may be late, and zones are a day apart
_STEP = 6 * 3600  # s: no zone changes its offset twice within it
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class WallClocks:
    """Offsets of some zones within a span.

    Args:
        zones: Names of the time zone database.
        first: Start of the span, seconds since 1970.
        last: Its end.

    Raises:
        InputError: A zone is unknown.
    """

    def __init__(self, zones: Sequence[str], first: int, last: int) -> None:
        self._tables = [_table(known_zone(name), first - _MARGIN, last + _MARGIN) for name in zones]

    def to_utc(self, local: Int64Array, zone: Int64Array) -> Int64Array:
        """Unix time of wall clocks: in a repeated hour its first pass; a skipped hour is shown an hour later.

        This is Python's ``fold=0`` (PEP 495).

        Args:
            local: Seconds since 1970 on the wall clock, shape ``(events,)``.
            zone: Index of each one's zone, shape ``(events,)``.
        """
        utc = np.empty_like(local)
        for index, (changes, offsets) in enumerate(self._tables):
            here = zone == index
            shown = local[here]
            utc[here] = shown - offsets[np.searchsorted(changes, shown, side="right")]
        return utc


def known_zone(name: str) -> ZoneInfo:
    """The rules of a zone.

    Raises:
        InputError: It is unknown.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # the last for the name of a folder
        raise InputError(
            f"unknown time zone {name!r}: expected a name of the time zone database, "
            'for instance "America/New_York"'
        ) from error


def _offset(zone: ZoneInfo, utc: int) -> int:
    shown = (_EPOCH + timedelta(seconds=utc)).astimezone(zone).utcoffset()
    return round(shown.total_seconds()) if shown is not None else 0


def _table(zone: ZoneInfo, first: int, last: int) -> tuple[Int64Array, Int64Array]:
    """Readings at which the offset changes, and the offsets before, between and after them."""
    changes = list(_changes(zone, first, last))
    offsets = [_offset(zone, first), *(_offset(zone, change) for change in changes)]
    # The old offset holds for all that it shows before the change and, with fold=0, within gap and overlap.
    shown = [change + max(pair) for change, pair in zip(changes, pairwise(offsets), strict=True)]
    return np.array(shown, np.int64), np.array(offsets, np.int64)


def _changes(zone: ZoneInfo, first: int, last: int) -> Iterator[int]:
    """Unix times from which another offset holds."""
    after = _offset(zone, first)
    for low in range(first, last, _STEP):
        before, after, high = after, _offset(zone, low + _STEP), low + _STEP
        if after == before:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _offset(zone, middle) == before else (low, middle)
        yield high
