"""Whole numbers that arrive as floats or decimals: accepted only where nothing was rounded."""

from typing import cast

import ibis.expr.datatypes as dt
import ibis.expr.types as ir

from rota.data.places import Place
from rota.errors import InputError

__all__ = []

_WHOLE = r"^[+-]?[0-9]{1,19}(\.0*)?$"

_LIMIT = {dt.float16: 2**11, dt.float32: 2**24, dt.float64: 2**53}


def exact_limit(kind: dt.DataType) -> int:
    """Size from which a float type skips whole numbers: 2^24 for float32, 2^53 for float64.

    float32 holds today's Unix time to 128 s, so it was rounded before it came here.
    """
    return _LIMIT[kind.copy(nullable=True)]


def inexact(values: ir.NumericColumn) -> ir.BooleanValue:
    """Whether a number is not surely the whole number that was meant: a fraction, or too large for its type.

    Args:
        values: Floats or decimals, without nulls.
    """
    whole = values.try_cast("int64")  # null for what is not finite, or too large
    wrong = whole.isnull() | (values != whole)
    return wrong | (values.abs() >= exact_limit(values.type())) if values.type().is_floating() else wrong


def whole_numbers(place: Place, wanted: str, most: int = 2**63 - 1) -> ir.IntegerValue:
    """A column of whole numbers as int64, of whatever type it came.

    Args:
        place: The column.
        wanted: What is expected, for the message.
        most: Largest size that makes sense.

    Raises:
        InputError: A row has none: names the first.
    """
    values, kind = place.values, place.values.type()
    if not (kind.is_numeric() or kind.is_string()):
        raise InputError(f"{place} is of type {kind}: expected {wanted}")
    whole = values.try_cast("int64")
    bad = whole.isnull() | (whole > most) | (whole < -most)
    if kind.is_string():
        bad = bad | ~values.re_search(_WHOLE)  # the cast alone would round a fraction
    elif not kind.is_integer():
        bad = bad | inexact(values)
    if place.any(bad):
        row, value = place.first(bad)
        raise InputError(f"{row}: {value!r}: expected {wanted}, in every row: correct it")
    return cast(ir.IntegerValue, whole)
