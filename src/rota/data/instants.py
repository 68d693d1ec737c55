"""A time column to whole clock ticks, int64, without rounding anything."""

from typing import NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from rota.data.numbers import exact_limit, first_inexact
from rota.data.place import Place
from rota.data.texttimes import parse_times
from rota.errors import InputError
from rota.types import Int64Array
from rota.units import UNITS, Unit, ticks_per_second

__all__ = []

# A log's median event lies in between: the four units' ranges do not overlap, so the magnitude decides.
_EARLIEST, _LATEST = 315_532_800, 7_258_118_400  # 1980 and 2200, Unix seconds
_LARGEST = 2**63 - 1


class Instants(NamedTuple):
    """Times of all events.

    Attributes:
        ticks: Unix time, or the reading of a wall clock, in whole ticks of ``unit``; shape ``(rows,)``.
        unit: Unit of ``ticks``.
        stated: The unit was stated or is part of the column's type; otherwise inferred from the magnitude.
        absolute: The ticks are instants (Unix time) and not the reading of a wall clock.
        zone: Time zone that the column's type names, if any.
    """

    ticks: Int64Array
    unit: Unit
    stated: bool
    absolute: bool
    zone: str | None


def read_instants(column: pa.ChunkedArray, unit: Unit | None, place: Place) -> Instants:
    """Read a time column.

    Args:
        column: Whole numbers, datetimes, dates, or text with either; at least one row.
        unit: Unit of the clock; ``None`` takes that of the datetimes (the coarsest that is exact), or
            infers that of numbers from their magnitude.
        place: Where the column is from.

    Raises:
        InputError: A time is missing, unreadable or not a whole number of ticks, or the unit cannot be told.
    """
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        raise InputError(f"{place.row(_first_null(column))}: no time: correct or remove the row")
    if kinds.is_string(column.type) or kinds.is_large_string(column.type):
        column = parse_times(column.cast(pa.large_string()), place)
    kind = column.type
    if kinds.is_timestamp(kind):
        return _datetimes(column, unit, place)
    if kinds.is_date(kind):
        return _datetimes(column.cast(pa.timestamp("s" if kinds.is_date32(kind) else "ms")), unit, place)
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
        ticks = _whole_numbers(column, place)
        return Instants(ticks, unit or _infer(ticks, place), unit is not None, absolute=True, zone=None)
    raise InputError(f"{place} is of type {kind}: expected whole numbers, datetimes or ISO 8601 text")


def _first_null(column: pa.ChunkedArray) -> int:
    return int(pc.index(column.is_null(), True).as_py())


def _whole_numbers(column: pa.ChunkedArray, place: Place) -> Int64Array:
    if kinds.is_floating(column.type):
        floats = column.to_numpy()
        bad = first_inexact(floats)
        if bad is not None:
            raise InputError(
                f"{place.row(bad)}: time {floats[bad].item()!r} of type {column.type}, exact only for whole "
                f"numbers below {exact_limit(floats.dtype)}: store times as int64, in a finer unit if they "
                "have fractions"
            )
    try:
        ticks: Int64Array = column.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{place} of type {column.type} does not fit whole int64 ticks: store times as int64, "
            "in a finer unit if they have fractions"
        ) from error
    return ticks


def _infer(ticks: Int64Array, place: Place) -> Unit:
    middle = int(np.partition(ticks, len(ticks) // 2)[len(ticks) // 2])
    for unit in UNITS:
        if _EARLIEST <= middle // ticks_per_second(unit) < _LATEST:
            return unit
    raise InputError(
        f"{place}: a median of {middle} is no Unix time between 1980 and 2200 in s, ms, us or ns: "
        "state the unit (unit=, --unit)"
    )


def _datetimes(column: pa.ChunkedArray, unit: Unit | None, place: Place) -> Instants:
    kind = column.type
    ticks, coarsest = _reduced(column.cast(pa.int64()).to_numpy(), cast(Unit, kind.unit))
    if unit is not None:
        ticks = _in_unit(ticks, coarsest, unit, place)
    return Instants(ticks, unit or coarsest, stated=True, absolute=kind.tz is not None, zone=kind.tz)


def _reduced(ticks: Int64Array, unit: Unit) -> tuple[Int64Array, Unit]:
    """The coarsest unit in which all times are whole: the same log whichever library chose the type."""
    while unit != UNITS[0] and not (ticks % 1000).any():
        ticks, unit = ticks // 1000, UNITS[UNITS.index(unit) - 1]
    return ticks, unit


def _in_unit(ticks: Int64Array, coarsest: Unit, unit: Unit, place: Place) -> Int64Array:
    if ticks_per_second(unit) < ticks_per_second(coarsest):
        raise InputError(
            f"{place} has datetimes exact to {coarsest}, which unit {unit!r} would round: "
            f"state {coarsest!r} or leave the unit out"
        )
    factor = ticks_per_second(unit) // ticks_per_second(coarsest)
    if max(int(ticks.max()), -int(ticks.min())) * factor > _LARGEST:
        raise InputError(
            f"{place} has datetimes too far from 1970 for int64 in unit {unit!r}: state a coarser unit"
        )
    return ticks * factor
