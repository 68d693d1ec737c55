"""Whole numbers that arrive as floats or decimals: accepted only where nothing was rounded."""

import ibis.expr.datatypes as dt
import ibis.expr.types as ir

__all__ = []

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
