"""Values as people give them from Python: lists, arrays and columns of any library, to Arrow."""

from collections.abc import Iterable, Mapping, Set
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from rota.data.frames import ArrowStream
from rota.errors import InputError

__all__: list[str] = []


def arrow(values: object, what: str) -> pa.Array:
    """Values of any library as one Arrow array.

    Args:
        values: A list, an array of numpy or Arrow, a column of pandas or polars.
        what: What they are called in messages.

    Raises:
        InputError: They are of several types, or of one that Arrow does not know.
    """
    try:
        if isinstance(values, pa.Array | pa.ChunkedArray):
            found = values
        elif isinstance(values, np.ndarray):
            found = pa.array(_plain(values))
        elif isinstance(values, ArrowStream):
            found = pa.chunked_array(values)
        elif isinstance(values, Iterable) and not isinstance(values, str | bytes | Set | Mapping):
            listed = list(values)
            _require_there(sum(map(_is_missing, listed)), len(listed), what)
            _require_alike(listed, what)
            found = pa.array(_plain(np.array(listed))) if _all(listed, np.datetime64) else pa.array(listed)
        else:
            raise InputError(f"{what} {values!r}: expected a list or an array, which have an order")
        whole = _decoded(found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what}: {' '.join(str(error).split())}: give values of one type") from error
    _require_there(whole.null_count, len(whole), what)
    return whole


def _decoded(values: pa.Array) -> pa.Array:
    """Categories as what they stand for, and the views that polars has of text as text."""
    if kinds.is_dictionary(values.type):
        values = _decoded(values.dictionary).take(values.indices)
    return values.cast(pa.large_string()) if kinds.is_string_view(values.type) else values


def _is_missing(value: object) -> bool:
    """Whether it is no value: also the NaN of numpy's and pandas' times, which is not equal to itself."""
    return value is None or (isinstance(value, datetime | np.datetime64) and bool(value != value))


def _require_there(missing: int, of: int, what: str) -> None:
    if missing:
        raise InputError(
            f"{what}: {missing} of {of} {'is' if missing == 1 else 'are'} missing: leave them out"
        )


def _plain(values: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    """Datetimes in a unit that Arrow knows; it takes days for dates, which is right too."""
    if values.dtype.kind != "M" or np.datetime_data(values.dtype)[0] in ("D", "s", "ms", "us", "ns"):
        return values
    if np.datetime_data(values.dtype)[0] in ("Y", "M", "W", "h", "m"):
        return values.astype("datetime64[s]")
    raise ValueError(f"datetimes of {values.dtype}, finer than nanoseconds")


def _all(values: list[Any], kind: type) -> bool:
    return bool(values) and all(isinstance(value, kind) for value in values)


def _require_alike(values: list[Any], what: str) -> None:
    """Refuse datetimes with and without a zone side by side, which Arrow would mix up."""
    aware = {value.tzinfo is not None for value in values if isinstance(value, datetime)}
    if len(aware) > 1:
        raise InputError(f"{what}: some have an offset from UTC and some have none: give all of them alike")
    if any(isinstance(value, bool | np.bool_) for value in values):
        raise InputError(f"{what}: a truth value among them: expected ids or times")
