"""Rows of SQLite as stored: Ibis fetches them by way of pandas, which rounds whole numbers among nulls."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.sqlite import Backend

from rota.errors import InputError

__all__ = []

_ROWS = 2**16  # at a time
_KINDS = {
    "integer": pa.int64(),
    "real": pa.float64(),
    "text": pa.string(),
    "blob": pa.binary(),
    "null": pa.null(),
}


def stored_types(connection: Backend, table: ir.Table, where: str) -> pa.Schema:
    """Types of the values that a table holds, whatever its columns were declared as.

    Raises:
        InputError: A column holds values of two types.
    """
    found = {}
    for name in table.columns:
        held = connection.con.execute(
            str(connection.compile(table.select(kind=table[name].typeof()).distinct()))
        )
        kinds = sorted({kind for (kind,) in held} - {"null"}) or ["null"]
        if len(kinds) > 1 and kinds != ["integer", "real"]:
            several = " and ".join(kinds)
            raise InputError(f"{where}: column {name!r} holds {several}: expected one type; convert it")
        found[name] = _KINDS[kinds[-1]]
    return pa.schema(found)


def stored_rows(
    connection: Backend, path: Path, table: ir.Table, types: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Rows of a table of the file ``path``, piece by piece, in `stored_types`."""
    query = str(connection.compile(table))
    # Our database asks for rows in threads of its own, one at a time.
    with closing(
        sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    ) as file:
        rows = file.execute(query)
        while piece := rows.fetchmany(_ROWS):
            columns = zip(*piece, strict=True)
            arrays = [pa.array(values, field.type) for values, field in zip(columns, types, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=types)
