"""Parquet: columns are read as they are needed, rows numbered as they lie in the files."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pyarrow.types as kinds
from ibis.backends.duckdb import Backend

from rota.data.columns import Columns, Wanted, choose_columns
from rota.data.formats.base import Format, OnError
from rota.data.paths import Found, brief
from rota.data.raw import ROW, Raw
from rota.data.staging import stage
from rota.errors import InputError

__all__ = ["Parquet"]


@dataclass(frozen=True)
class Parquet(Format):
    """One Parquet file or several of one schema."""

    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def open(self, connection: Backend, found: Found, wanted: Wanted, on_error: OnError) -> Raw:
        """Open Parquet files; a row that cannot be read is unknown to this kind of file.

        Raises:
            InputError: A file is damaged, they disagree in a column's type, or a column is missing.
        """
        footers = [_footer(str(path)) for path in found.paths]
        columns = choose_columns(wanted, footers[0].schema.to_arrow_schema().names, str(found.paths[0]))
        types = _one_schema(found, footers, columns)
        if kinds.is_timestamp(types.field(columns.time).type):
            # As whole ticks: the database would round instants with a zone to microseconds.
            table = stage(connection, found.where, types, columns.time, _batches(found, types))
        else:
            table = _scan(connection, found, [footer.num_rows for footer in footers], types.names)
        return Raw(table, columns, found.paths[0].name, found.where, types)


def _footer(path: str) -> parquet.FileMetaData:
    try:
        return parquet.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: damaged, or not a .parquet file: {brief(error)}") from error


def _one_schema(found: Found, footers: list[parquet.FileMetaData], columns: Columns) -> pa.Schema:
    """The chosen columns' types, which all files must share."""
    wanted = list(columns.present().values())
    first = footers[0].schema.to_arrow_schema()
    chosen = pa.schema([first.field(name).remove_metadata().with_nullable(True) for name in wanted])
    for path, footer in zip(found.paths, footers, strict=True):
        schema = footer.schema.to_arrow_schema()
        for field in chosen:
            other = schema.field(field.name).type if field.name in schema.names else None
            if other != field.type:
                held = "none" if other is None else f"of type {other}"
                raise InputError(
                    f"{path}: column {field.name!r} is {held}, in {found.paths[0]} of type {field.type}: "
                    "expected files of one schema; convert one of them"
                )
    return chosen


def _scan(connection: Backend, found: Found, rows: list[int], names: list[str]) -> ir.Table:
    paths = [str(path) for path in found.paths]
    table = connection.read_parquet(
        paths, file_row_number=True, filename=True, hive_partitioning=False, binary_as_string=True
    )
    row = table.file_row_number
    if len(paths) > 1:
        before = np.concatenate([[0], np.cumsum(rows)[:-1]]).astype(np.int64)
        starts = ibis.memtable(pa.table({"file": pa.array(paths), "rows_before": pa.array(before)}))
        table = table.join(starts, table.filename == starts.file)
        row = table.file_row_number + table.rows_before
    return table.select(**{name: table[name] for name in names}, **{ROW: row.cast("int64")})


def _batches(found: Found, types: pa.Schema) -> Iterator[pa.RecordBatch]:
    for path in found.paths:
        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches(columns=types.names)
