"""The embedded database in which logs are read, filtered and sorted, within bounded memory."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ibis
from ibis.backends.duckdb import Backend

__all__ = []

_MEMORY = "ROTA_MEMORY"  # environment: what the database may use, for instance "4GB"
_LEAST_MEMORY = "1GB"  # what sorting twenty million events needs, and a laptop can spare


@contextmanager
def database(folder: Path | None = None) -> Iterator[Backend]:
    """A database that lives as long as the block; what exceeds its memory goes to a folder that then goes.

    Args:
        folder: Where to make that folder; by default where the system keeps temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="rota-", dir=folder, ignore_cleanup_errors=True) as spill:
        connection = ibis.duckdb.connect(
            ":memory:",
            memory_limit=os.environ.get(_MEMORY, _LEAST_MEMORY),
            temp_directory=str(spill),
        )
        connection.con.execute("set TimeZone = 'UTC'").fetchall()  # what text with an offset is read into
        # Not closed by hand: tables that expressions still hold go with those, and it closes after them.
        yield connection
