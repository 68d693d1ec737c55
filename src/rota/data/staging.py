"""Staging: a stream of rows laid down once in the database, numbered as they come."""

from collections.abc import Iterable, Iterator
from uuid import uuid4

import duckdb
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.types as kinds
from ibis.backends.duckdb import Backend

from rota.data.database import explained
from rota.data.paths import brief
from rota.data.raw import ROW
from rota.errors import InputError

__all__ = []

_TEXTUAL = (
    kinds.is_string, kinds.is_string_view, kinds.is_large_string, kinds.is_binary, kinds.is_large_binary,
    kinds.is_binary_view,
)  # fmt: skip


def stage(
    connection: Backend, where: str, schema: pa.Schema, time: str, batches: Iterable[pa.RecordBatch]
) -> ir.Table:
    """Lay a stream of rows down as a temporary table.

    Args:
        connection: Where to.
        where: The source, for messages.
        schema: Types of the columns. Text views, dictionaries and bytes are laid down as text.
        time: Column with the time: datetimes are laid down as their int64 ticks, so that none is rounded.
        batches: Rows, in the order of the source.

    Raises:
        InputError: A value cannot be laid down as its column's type, such as bytes that are no text.
    """
    name = f"staged_{uuid4().hex}"
    stored = pa.schema(
        [*(pa.field(f.name, _stored(f.type, f.name == time)) for f in schema), pa.field(ROW, pa.int64())]
    )
    failures: list[BaseException] = []  # what is raised within the database comes out as its own error
    reader = pa.RecordBatchReader.from_batches(stored, _numbered(stored, batches, where, failures))
    raw = connection.con
    raw.register(f"{name}_stream", reader)
    try:
        with explained():
            raw.execute(f'create temporary table "{name}" as select * from "{name}_stream"').fetchall()
    except (duckdb.Error, InputError) as error:
        raise (failures[0] if failures else error) from None
    finally:
        raw.unregister(f"{name}_stream")
    return connection.table(name)


def _stored(kind: pa.DataType, is_time: bool) -> pa.DataType:
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    if is_time and kinds.is_timestamp(kind):
        return pa.int64()
    if any(is_text(kind) for is_text in _TEXTUAL):
        return pa.string()
    return pa.int64() if kinds.is_null(kind) else kind  # the database has no type for nothing


def _numbered(
    stored: pa.Schema, batches: Iterable[pa.RecordBatch], where: str, failures: list[BaseException]
) -> Iterator[pa.RecordBatch]:
    row = 0
    try:
        for batch in batches:
            rows = pa.array(np.arange(row, row + len(batch), dtype=np.int64))
            kept = [_cast(batch, field, where) for field in stored if field.name != ROW]
            yield pa.RecordBatch.from_arrays([*kept, rows], schema=stored)
            row += len(batch)
    except (Exception, KeyboardInterrupt) as error:
        failures.append(error)
        raise


def _cast(batch: pa.RecordBatch, field: pa.Field, where: str) -> pa.Array:
    column = batch.column(field.name)
    if kinds.is_dictionary(column.type):
        values = column.dictionary  # as polars has them, text views, which Arrow cannot take from yet
        values = values.cast(pa.string()) if kinds.is_string_view(values.type) else values
        column = values.take(column.indices)
    try:
        return column.cast(field.type)
    except pa.ArrowException as error:
        raise InputError(
            f"{where}: column {field.name!r} of type {column.type}: {brief(error)}: store it as integers or "
            "text"
        ) from error
