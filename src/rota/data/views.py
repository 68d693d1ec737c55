"""String views, in which polars exports text, to strings: Arrow can neither filter nor unify views yet."""

import pyarrow as pa
import pyarrow.types as kinds

__all__ = []


def without_views(table: pa.Table) -> pa.Table:
    """The table with its string views, and dictionaries of them, as strings; other columns are not copied."""
    return pa.table({name: _plain(table[name]) for name in table.column_names})


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    text = pa.large_string()
    if kinds.is_string_view(column.type):
        return column.cast(text)
    if kinds.is_dictionary(column.type) and kinds.is_string_view(column.type.value_type):
        parts = [pa.DictionaryArray.from_arrays(p.indices, p.dictionary.cast(text)) for p in column.chunks]
        return pa.chunked_array(parts, pa.dictionary(column.type.index_type, text))
    return column
