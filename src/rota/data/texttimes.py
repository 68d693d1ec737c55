"""Times that arrive as text: read as one kind for the whole column, or refused at the first bad row."""

import pyarrow as pa

from rota.data.place import Place
from rota.errors import InputError

__all__ = []

_READINGS = (
    pa.int64(),
    pa.float64(),
    pa.timestamp("s"),
    pa.timestamp("ns"),
    pa.timestamp("s", "UTC"),
    pa.timestamp("ns", "UTC"),
)


def parse_times(column: pa.ChunkedArray, place: Place) -> pa.ChunkedArray:
    """Read text as numbers, or as ISO 8601 times with or without an offset from UTC.

    Raises:
        InputError: No one reading fits the whole column; names the row where the best one ends.
    """
    for reading in _READINGS:
        if _readable(column, reading):
            return column.cast(reading)
    row = max(_good_rows(column, reading) for reading in _READINGS)
    raise InputError(
        f"{place.row(row)}: cannot read {column[row].as_py()!r} as a time: expected, in all rows alike, "
        "whole numbers or ISO 8601 (2024-05-31T18:00:00); correct or remove the row"
    )


def _readable(column: pa.ChunkedArray, reading: pa.DataType) -> bool:
    try:
        column.cast(reading)
    except pa.ArrowInvalid:
        return False
    return True


def _good_rows(column: pa.ChunkedArray, reading: pa.DataType) -> int:
    """Number of rows before the first that is not readable, by bisection; the whole column is not."""
    good, bad = 0, len(column)
    while bad - good > 1:
        middle = (good + bad) // 2
        if _readable(column.slice(good, middle - good), reading):
            good = middle
        else:
            bad = middle
    return good
