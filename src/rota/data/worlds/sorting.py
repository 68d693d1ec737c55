"""The rows of a world by time: sorted outside of memory by DuckDB."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import ibis
import pyarrow as pa
import pyarrow.parquet as pq

__all__: list[str] = []


def by_time(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, beside: Path, rows: int
) -> Iterator[pa.RecordBatch]:
    """The same rows, ordered by time and at one instant by user.

    Args:
        batches: Rows in any order.
        schema: Of the batches.
        beside: File in whose folder there is room for all of them; they are gone at the end.
        rows: Of a batch that is given.
    """
    with TemporaryDirectory(dir=beside.parent, prefix=f".{beside.name}.") as folder:
        made, sorted_rows = Path(folder) / "made.parquet", Path(folder) / "sorted.parquet"
        with pq.ParquetWriter(made, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        database = ibis.duckdb.connect(temp_directory=folder)
        try:
            database.read_parquet(made).order_by("time", "event").to_parquet(sorted_rows)
        finally:
            database.disconnect()
        with pq.ParquetFile(sorted_rows) as file:
            for batch in file.iter_batches(rows):
                yield _as(batch, schema)


def _as(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [_column(batch[field.name], field.type) for field in schema]
    return pa.record_batch(columns, schema=schema)


def _column(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    return values.dictionary_encode() if pa.types.is_dictionary(wanted) else values.cast(wanted)
