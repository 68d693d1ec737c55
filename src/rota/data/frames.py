"""Take a log from any DataFrame that speaks Arrow: pandas, polars, pyarrow and others."""

import json
from typing import Protocol, runtime_checkable

import pyarrow as pa

from rota.data.files import brief
from rota.errors import InputError

__all__ = ["ArrowStream"]


@runtime_checkable
class ArrowStream(Protocol):
    """Any table with the Arrow PyCapsule interface: a DataFrame of pandas or polars, a pyarrow Table."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the table as a stream of record batches."""


def read_frame(frame: ArrowStream) -> pa.Table:
    """Export a DataFrame to Arrow; the index of pandas is ignored.

    Raises:
        InputError: A column cannot be exported.
    """
    try:
        table = pa.table(frame)
    except (pa.ArrowException, TypeError) as error:
        raise InputError(
            f"{frame_name(frame)}: {brief(error)}: give only the columns needed, each of one type"
        ) from error
    pandas = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    index = [name for name in pandas.get("index_columns", []) if isinstance(name, str)]
    return table.drop_columns(index)


def frame_name(frame: ArrowStream) -> str:
    """What a DataFrame is called in messages, for instance ``pandas.DataFrame``."""
    kind = type(frame)
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
