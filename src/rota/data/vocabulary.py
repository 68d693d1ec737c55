"""Ids to codes, by vocabularies ordered by value: codes do not depend on the order of rows."""

from dataclasses import dataclass
from functools import cached_property

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from rota.types import Int64Array

__all__ = []

_CODE = "item_code"
_SPAN = 2**24  # of whole-number ids: as many places are looked up at once, in 128 MB


@dataclass(frozen=True)
class Vocabulary:
    """Distinct ids of a log, in order.

    Attributes:
        ids: Numbers in numerical order, text by its UTF-8 bytes; shape ``(ids,)``.
    """

    ids: pa.Array

    @classmethod
    def of(cls, column: ir.Column) -> "Vocabulary":
        """What occurs in a column."""
        name = column.get_name()
        return cls(as_ids(column.as_table().distinct().order_by(name).to_pyarrow()[name]))

    @property
    def column(self) -> str:
        """Column of `join_codes`' table to give to `codes`."""
        return "item" if kinds.is_integer(self.ids.type) else _CODE

    def join_codes(self, table: ir.Table) -> ir.Table:
        """A table with the codes of its column ``item``, where `codes` cannot find them faster."""
        if self.column == "item":
            return table
        codes = pa.array(np.arange(len(self.ids), dtype=np.int64))
        return table.join(ibis.memtable(pa.table({"item": self.ids, _CODE: codes})), "item")

    def codes(self, rows: pa.Array) -> Int64Array:
        """Codes of some rows of `column`, in their shape."""
        values = rows.to_numpy()
        if self.column == _CODE:
            return np.asarray(values)
        ids = self.ids.to_numpy()
        places = self._places
        return np.searchsorted(ids, values) if places is None else np.asarray(places[values - ids[0]])

    @cached_property
    def _places(self) -> Int64Array | None:
        """Code by distance from the first id, where the ids lie close enough."""
        ids = self.ids.to_numpy()
        if int(ids[-1]) - int(ids[0]) >= _SPAN:
            return None
        places = np.zeros(int(ids[-1]) - int(ids[0]) + 1, np.int64)
        places[ids - ids[0]] = np.arange(len(ids))
        return places


def as_ids(column: pa.ChunkedArray) -> pa.Array:
    """Ids in one piece; text with large offsets, so that any number of them fits."""
    kind = column.type
    whole = column.cast(pa.large_string()) if kinds.is_string(kind) else column
    return whole.combine_chunks()


def used_only(codes: Int64Array, values: pa.Array) -> tuple[Int64Array, pa.Array]:
    """Drop values that no code means any more, and number the codes again; the order of values stays."""
    used = np.zeros(len(values), np.bool_)
    used[codes] = True
    return (np.cumsum(used, dtype=np.int64) - 1)[codes], values.filter(pa.array(used))


def texts(values: pa.Array) -> list[str]:
    """Ids as text, for digests and messages."""
    return list(values.cast(pa.large_string()).to_pylist())
