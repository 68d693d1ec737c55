"""Times as people give them to a trained model: whole numbers, datetimes, ISO 8601 text, of any library."""

import re
from dataclasses import dataclass
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from rota.choice import Choice
from rota.errors import InputError
from rota.recipes.raw_values import arrow
from rota.types import Int64Array
from rota.units import ticks_per_second

__all__: list[str] = []

_KNOWN = "expected whole numbers, datetimes, numpy's datetime64 or ISO 8601 text (2024-05-31T18:00:00)"
_WHOLE = r"^[+-]?[0-9]{1,19}$"
_AWARE = r"^[0-9-]{10}[T ].*(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
_DAY = 86_400


class Sort(Choice):
    """What a time is.

    Attributes:
        TICKS: A whole number, in the unit of the model's clock.
        INSTANT: A datetime with an offset from UTC or a zone.
        READING: A datetime without one, which is what a wall clock shows.
    """

    TICKS = "ticks"
    INSTANT = "instant"
    READING = "reading"


@dataclass(frozen=True)
class Given:
    """Times that were given.

    Attributes:
        sort: What they are.
        ticks: Since 1970 in UTC, or what the clock shows counted so, in the unit of the model's clock; shape
            ``(times,)``.
    """

    sort: Sort
    ticks: Int64Array


def is_single(now: object) -> bool:
    """Whether this is one time, and not several."""
    if isinstance(now, np.ndarray):
        return now.ndim == 0
    return isinstance(now, str | date | int | float | np.generic | pa.Scalar)  # a datetime is a date


def given_times(values: object, unit: str, what: str) -> Given:
    """Understand times.

    What is finer than the clock's unit is rounded down: a clock of seconds shows the second that has begun.

    Args:
        values: As for `arrow`.
        unit: Unit of the model's clock, in which whole numbers are.
        what: What they are called in messages.

    Raises:
        InputError: They are no times, or too far from 1970 for int64.
    """
    found = arrow(values, what)
    kind = found.type
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind):
        found = _of_text(found.cast(pa.string()), what)
        kind = found.type
    if kinds.is_timestamp(kind):
        sort = Sort.READING if kind.tz is None else Sort.INSTANT
        return Given(sort, rescaled(_int64(found), kind.unit, unit, what))
    if kinds.is_date(kind):
        days = found.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
        return Given(Sort.READING, rescaled(_int64(pc.multiply(days, _DAY)), "s", unit, what))
    if kinds.is_null(kind):
        return Given(Sort.TICKS, np.empty(0, np.int64))
    return Given(Sort.TICKS, _whole(found, what))


def rescaled(ticks: Int64Array, held: str, unit: str, what: str) -> Int64Array:
    """Ticks of one unit as ticks of another, rounded down.

    Args:
        ticks: Times, shape ``(times,)``.
        held: Their unit.
        unit: The other.
        what: What they are called in messages.

    Raises:
        InputError: One is too far from 1970 for int64.
    """
    here, there = ticks_per_second(held), ticks_per_second(unit)
    if here >= there:
        return ticks // (here // there)
    grow = there // here
    if len(ticks) and max(int(ticks.max()), -int(ticks.min())) > (2**63 - 1) // grow:
        raise InputError(f"{what}: too far from 1970 for int64 in {unit}, the unit of the model's clock")
    return ticks * grow


def _int64(values: pa.Array) -> Int64Array:
    return np.asarray(values.cast(pa.int64()).to_numpy(zero_copy_only=False))


def _whole(found: pa.Array, what: str) -> Int64Array:
    kind = found.type
    if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)):
        raise InputError(f"{what} of type {kind}: {_KNOWN}")
    try:
        ticks = _int64(found)
    except pa.ArrowInvalid as error:
        raise InputError(f"{what} of type {kind} are not all whole numbers of int64: {_KNOWN}") from error
    largest = max(int(ticks.max()), -int(ticks.min())) if len(ticks) else 0
    if kinds.is_floating(kind) and largest >= 2 ** (np.finfo(kind.to_pandas_dtype()).nmant + 1):
        raise InputError(f"{what} of type {kind} are larger than it holds exactly: give them as int64")
    return ticks


def _of_text(text: pa.StringArray, what: str) -> pa.Array:
    if pc.all(pc.match_substring_regex(text, _WHOLE)).as_py():
        try:
            return text.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise InputError(f"{what}: a whole number beyond int64: {_KNOWN}") from error
    aware = pc.match_substring_regex(text, _AWARE).to_pylist()
    each = list(zip(text.to_pylist(), aware, strict=True))
    try:
        read = [_datetime(value, own, "ns") for value, own in each]
    except pa.ArrowInvalid:  # nanoseconds end in 2262
        read = [_in_microseconds(value, own, what) for value, own in each]
    if any(aware) != all(aware):
        raise InputError(f"{what}: some have an offset from UTC and some have none: give all of them alike")
    return pa.array(read)


def _in_microseconds(text: str, aware: bool, what: str) -> pa.Scalar:
    try:
        return _datetime(text, aware, "us")
    except pa.ArrowInvalid as error:
        raise InputError(f"{what}: cannot read {text!r} as a time: {_KNOWN}") from error


def _datetime(text: str, aware: bool, unit: str) -> pa.Scalar:
    tight = re.sub(r" (?=(Z|[+-][0-9:]+)$)", "", text)  # some write a space before the offset
    return pa.scalar(tight).cast(pa.timestamp(unit, "UTC" if aware else None))
