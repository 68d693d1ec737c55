"""Take a log from any DataFrame that speaks Arrow: pandas, polars, pyarrow, Ibis and others."""

import json
from typing import Protocol, runtime_checkable

import duckdb
import pyarrow as pa
from ibis.backends.duckdb import Backend

from rota.data.columns import Wanted, choose_columns
from rota.data.paths import brief
from rota.data.raw import Raw
from rota.data.staging import stage
from rota.errors import InputError

__all__ = ["ArrowStream"]


@runtime_checkable
class ArrowStream(Protocol):
    """Any table with the Arrow PyCapsule interface: a DataFrame of pandas or polars, a pyarrow Table."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the table as a stream of record batches."""


def open_frame(connection: Backend, frame: ArrowStream, wanted: Wanted) -> Raw:
    """Stream the chosen columns of a DataFrame into the database; the index of pandas is ignored.

    Raises:
        InputError: A column is missing, or cannot be exported.
    """
    name = frame_name(frame)
    try:
        reader = pa.RecordBatchReader.from_stream(frame)
        columns = choose_columns(wanted, _without_index(reader.schema), name)
        types = pa.schema([reader.schema.field(column) for column in columns.present().values()])
        batches = (batch.select(types.names) for batch in reader)
        table = stage(connection, name, types, columns.time, batches)
    except (pa.ArrowException, duckdb.Error, TypeError) as error:
        raise InputError(f"{name}: {brief(error)}: give only the columns needed, each of one type") from error
    return Raw(table, columns, name, name, types)


def _without_index(schema: pa.Schema) -> list[str]:
    pandas = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = [name for name in pandas.get("index_columns", []) if isinstance(name, str)]
    return [name for name in schema.names if name not in index]


def frame_name(frame: ArrowStream) -> str:
    """What a DataFrame is called in messages, for instance ``pandas.DataFrame``."""
    kind = type(frame)
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
