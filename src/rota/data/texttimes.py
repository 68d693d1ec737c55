"""Times that arrive as text: read as one kind for the whole column, or refused at the first bad row."""

import re
from collections.abc import Mapping
from typing import cast

import ibis
import ibis.expr.types as ir

from rota.data.instants import Times
from rota.data.numbers import inexact
from rota.data.places import Place
from rota.errors import InputError
from rota.units import UNITS, Unit

__all__ = []

_WHOLE = r"^[+-]?[0-9]{1,19}(\.0*)?$"
_FLOAT = r"^[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,2})?$"
_CLOCK = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?)?"
_NAIVE = _CLOCK + "$"
_AWARE = _CLOCK + r" ?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)$"
_FRACTION = r"\.([0-9]{1,9})"


def parse_times(place: Place) -> Times:
    """Read text as numbers, or as ISO 8601 times with or without an offset from UTC.

    Args:
        place: The column, without nulls.

    Raises:
        InputError: No one reading fits the whole column; names the row where the best one ends.
    """
    text = cast(ir.StringColumn, place.values)
    reading, count, digits = _best(place)
    if count:
        raise _unreadable(place, reading, _misfits(text)[reading])
    if reading == "whole":
        return Times(place, _digits(text).cast("int64"))
    if reading == "float":
        return Times(place, text.cast("float64").cast("int64"))
    return _of_datetimes(place, text, digits, aware=reading == "aware")


def unreadable(place: Place) -> ir.BooleanValue:
    """Whether a text is no time at all, in the reading that fits most rows; numbers are never passed over."""
    text = cast(ir.StringColumn, place.values)
    reading, _, _ = _best(place)
    return _misfits(text)[reading] & ~text.re_search(_FLOAT)


def _best(place: Place) -> tuple[str, int, int]:
    """The reading that fits most rows, how many it does not fit, and how many digits follow a point."""
    text = cast(ir.StringColumn, place.values)
    sums = {name: bad.sum() for name, bad in _misfits(text).items()}
    digits = text.re_extract(_FRACTION, 1).length().max()
    counts = place.table.aggregate(**sums, digits=digits).to_pyarrow().to_pylist()[0]
    reading = min(sums, key=lambda name: counts[name] or 0)  # the first, where several fit
    return reading, counts[reading] or 0, counts["digits"] or 0


def _misfits(text: ir.StringColumn) -> Mapping[str, ir.BooleanValue]:
    """For each reading, whether a row does not fit it."""
    number = text.try_cast("float64")
    return {
        "whole": ~text.re_search(_WHOLE) | _digits(text).try_cast("int64").isnull(),
        "naive": ~text.re_search(_NAIVE) | _second(text, aware=False).isnull(),
        "aware": ~text.re_search(_AWARE) | _second(text, aware=True).isnull(),
        "float": ~text.re_search(_FLOAT) | inexact(number).fill_null(True),
    }


def _digits(text: ir.StringColumn) -> ir.StringColumn:
    """A whole number without a sign that says nothing and a fraction that is none."""
    return cast(ir.StringColumn, text.re_replace(r"\.0*$", "").re_replace(r"^\+", ""))


def _second(text: ir.StringColumn, aware: bool) -> ir.IntegerValue:
    """Whole seconds since 1970, the fraction left aside; null where the date does not exist."""
    whole = text.re_replace(_FRACTION, "")
    zone = "UTC" if aware else None
    epoch = ibis.timestamp("1970-01-01 00:00:00", timezone=zone)
    return whole.try_cast(f"timestamp('{zone}')" if zone else "timestamp").delta(epoch, unit="second")


def _of_datetimes(place: Place, text: ir.StringColumn, digits: int, aware: bool) -> Times:
    """Seconds and fraction apart: the database's own datetimes with a zone stop at microseconds."""
    unit: Unit = UNITS[-(-digits // 3)]
    places = 3 * UNITS.index(unit)
    second = _second(text, aware).cast("int64")
    if not places:
        return Times(place, second, unit, absolute=aware, zone="UTC" if aware else None)
    fraction = text.re_extract(_FRACTION, 1).rpad(places, "0").cast("int64")
    return Times(place, second * 10**places + fraction, unit, aware, "UTC" if aware else None)


def _unreadable(place: Place, reading: str, bad: ir.BooleanValue) -> InputError:
    row, value = place.first(bad)
    if re.match(_FLOAT, str(value)) and reading in ("float", "whole"):
        return InputError(
            f"{row}: time {value!r}: expected whole numbers that float64 holds exactly; store times in a "
            "finer unit if they have fractions"
        )
    return InputError(
        f"{row}: cannot read {value!r} as a time: expected, in all rows alike, whole numbers or ISO 8601 "
        "(2024-05-31T18:00:00); correct or remove the row, or skip such rows (on_error=, --on-error skip)"
    )
