"""A time column of any type, as whole ticks: numbers, datetimes, dates, or text with either."""

from typing import cast

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.types as kinds

from rota.data.instants import Times
from rota.data.numbers import exact_limit, inexact
from rota.data.places import Place
from rota.data.texttimes import parse_times
from rota.errors import InputError
from rota.units import Unit

__all__ = []

_LARGEST = 2**63 - 1


def read_times(place: Place, types: pa.Schema | None) -> Times:
    """Understand the type of a time column.

    Args:
        place: The column, without nulls. Datetimes of a source with Arrow's types come as their ticks.
        types: Arrow's types of the source, which say what those ticks are.

    Raises:
        InputError: It is no time, or a time is not a whole number of ticks.
    """
    arrow = None if types is None else types.field(place.column).type
    if arrow is not None and kinds.is_timestamp(arrow):
        unit = cast(Unit, arrow.unit)
        return Times(place, place.values, unit, absolute=arrow.tz is not None, zone=arrow.tz)
    kind = place.values.type()
    if kind.is_string():
        return parse_times(place)
    if kind.is_timestamp():  # of a table without Arrow's types, which is the database's own: microseconds
        epoch = ibis.timestamp("1970-01-01 00:00:00", timezone=kind.timezone)
        ticks = place.values.delta(epoch, unit="microsecond").cast("int64")
        return Times(place, ticks, "us", absolute=kind.timezone is not None, zone=kind.timezone)
    if kind.is_date():
        days = place.values.delta(ibis.date("1970-01-01"), unit="day")
        return Times(place, days.cast("int64") * 86_400, "s", absolute=False)
    if kind.is_integer() or kind.is_floating() or kind.is_decimal():
        _require_whole(place, kind)
        return Times(place, place.values.cast("int64"))
    raise InputError(f"{place} is of type {kind}: expected whole numbers, datetimes or ISO 8601 text")


def _require_whole(place: Place, kind: dt.DataType) -> None:
    values = cast(ir.NumericColumn, place.values)
    if kind.is_signed_integer():
        return
    bad = inexact(values) if kind.is_floating() or kind.is_decimal() else values > _LARGEST
    if place.any(bad):
        row, value = place.first(bad)
        limit = f", exact only for whole numbers below {exact_limit(kind)}" if kind.is_floating() else ""
        raise InputError(
            f"{row}: time {value!r} of type {kind}{limit}: store times as int64, in a finer unit if they "
            "have fractions"
        )
