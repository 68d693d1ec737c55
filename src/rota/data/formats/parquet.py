"""Parquet: columns are read as they are needed, rows numbered as they lie in the files."""

import glob
import os
from collections.abc import Iterator, Sequence
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

_OWN = ("file_row_number", "filename")  # columns that the database adds


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
        # Instants as whole ticks: the database would round those with a zone to microseconds.
        if kinds.is_timestamp(types.field(columns.time).type) or _clash(footers, types.names):
            table = stage(connection, found.where, types, columns.time, _batches(found, types))
        else:
            table = _scan(connection, found, [footer.num_rows for footer in footers], types.names)
        return Raw(table, columns, found.paths[0].name, found.where, types)


def _clash(footers: list[parquet.FileMetaData], chosen: Sequence[str]) -> bool:
    """Whether the database, which reads names without their case, would confuse a chosen column."""
    names = {name for footer in footers for name in footer.schema.to_arrow_schema().names}
    folded = [name.lower() for name in names]
    return any(own in folded for own in _OWN) or any(folded.count(name.lower()) > 1 for name in chosen)


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
                held = "absent" if other is None else f"of type {other}"
                raise InputError(
                    f"{path}: column {field.name!r} is {held}, in {found.paths[0]} of type {field.type}: "
                    "expected files of one schema; convert one of them"
                )
    return chosen


def _scan(connection: Backend, found: Found, rows: list[int], names: list[str]) -> ir.Table:
    paths = [os.path.abspath(path) for path in found.paths]  # as the database will name them
    table = connection.read_parquet(
        [glob.escape(path) for path in paths],  # a name may hold what would be a pattern
        file_row_number=True, filename=True, hive_partitioning=False, binary_as_string=True,
    )  # fmt: skip
    table = table.select(*names, *_OWN)
    row = table.file_row_number
    if len(paths) > 1:
        before = np.concatenate([[0], np.cumsum(rows)[:-1]]).astype(np.int64)
        starts = ibis.memtable(pa.table({"rota_file": pa.array(paths), "rota_before": pa.array(before)}))
        table = table.join(starts, table.filename == starts.rota_file)
        row = table.file_row_number + table.rota_before
    return table.select(**{name: table[name] for name in names}, **{ROW: row.cast("int64")})


def _batches(found: Found, types: pa.Schema) -> Iterator[pa.RecordBatch]:
    for path in found.paths:
        try:
            with parquet.ParquetFile(path) as file:
                yield from file.iter_batches(columns=types.names)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: damaged: {brief(error)}: get it again") from error
