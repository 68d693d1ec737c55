"""Ids of any type to codes, by a vocabulary ordered by value: codes do not depend on the order of rows."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from rota.data.ids import check_ids, one_type
from rota.types import Int64Array

__all__ = []


class Coded(NamedTuple):
    """A column as codes into its distinct values.

    Attributes:
        codes: Index into ``values``, -1 where there is no id; shape ``(rows,)``.
        values: Distinct ids: int64, uint64, large_string, dates or timestamps.
    """

    codes: Int64Array
    values: pa.Array


def encode_ids(column: pa.ChunkedArray, where: str, *, untyped: bool) -> Coded:
    """Number the distinct ids of a column.

    Args:
        column: Ids of any type that names things.
        where: Log and column, for the message.
        untyped: The column is text only because its file has no types (CSV): if all ids are whole
            numbers as one writes them (no leading zeros), they are numbers.

    Raises:
        InputError: The type cannot name things, or a number is not whole.
    """
    check_ids(column.type, where)
    encoded = column if kinds.is_dictionary(column.type) else column.dictionary_encode()
    whole = encoded.unify_dictionaries().combine_chunks()
    # A library's dictionary may hold nulls, and ids that become equal in one type; once more settles both.
    distinct = one_type(whole.dictionary, where, untyped).dictionary_encode()
    final = _indices(distinct)
    codes = _indices(whole)
    return Coded(np.where(codes < 0, -1, final[codes]) if len(final) else codes, distinct.dictionary)


def settle(coded: Coded) -> Coded:
    """Order the values that occur (numbers numerically, text by its UTF-8 bytes), drop the others, re-number.

    Args:
        coded: Codes without -1.
    """
    used = np.flatnonzero(np.bincount(coded.codes, minlength=len(coded.values)))
    values = coded.values.take(pa.array(used))
    order = pc.sort_indices(values)
    renumbered = np.full(len(coded.values), -1, dtype=np.int64)
    renumbered[used[order.to_numpy()]] = np.arange(len(used))
    return Coded(renumbered[coded.codes], values.take(order))


def texts(values: pa.Array) -> list[str]:
    """Ids as text, for digests and messages."""
    return list(values.cast(pa.large_string()).to_pylist())


def _indices(encoded: pa.DictionaryArray) -> Int64Array:
    indices: Int64Array = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return indices
