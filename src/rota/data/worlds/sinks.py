"""Files that batches of a log are written to, by the ending of their name."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from rota.errors import InputError

__all__: list[str] = []

_ENDINGS = (".parquet", ".csv", ".csv.gz")


Sink = Callable[[pa.RecordBatch], None]
"""Takes batches, one after the other."""


def ending(path: Path) -> str:
    """Ending of a log's name.

    Raises:
        InputError: It is none that can be written.
    """
    for known in _ENDINGS:
        if path.name.endswith(known) and path.name != known:
            return known
    raise InputError(f"{path}: expected a name that ends in {', '.join(_ENDINGS)}")


@contextmanager
def opened_sink(path: Path, kind: str, schema: pa.Schema) -> Iterator[Sink]:
    """A file of a kind, whatever its own name is."""
    if kind == ".parquet":
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            yield writer.write_batch
        return
    # Words as such: a CSV file has no dictionaries.
    plain = pa.schema(
        [(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type) for field in schema]
    )
    with (
        pa.output_stream(path, compression="gzip" if kind == ".csv.gz" else None) as stream,
        csv.CSVWriter(stream, plain) as writer,
    ):
        yield lambda batch: writer.write_batch(batch.cast(plain))
