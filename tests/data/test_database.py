"""The database: what stops it is one line with the remedy, and Ctrl-C is Ctrl-C."""

import os
import signal
import threading
from pathlib import Path

import pytest

from rota.data.database import database, explained
from rota.errors import InputError

_SHUFFLED = "select hash(i) as h, i::varchar || repeat('x', 40) as s from range(400000) r(i) order by h"


def run(query: str, folder: Path | None = None, *settings: str) -> None:
    """Stream a query's rows and forget them."""
    with database(folder) as connection:
        for setting in settings:
            connection.con.execute(setting).fetchall()
        with connection.sql(query).to_pyarrow_batches(chunk_size=1000) as batches:
            for _ in batches:
                pass


def test_a_query_is_interrupted() -> None:
    timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run("select sum(a.range * b.range) as s from range(1000000) a, range(1000000) b")
    timer.join()


def test_what_happens_while_a_result_is_streamed() -> None:
    for said, found in (
        ("Out of Memory Error: could not allocate block", "needs more than the 1GB of memory"),
        ("IO Error: Could not write file: No space left on device", "the disk has no space"),
        ("Invalid Input Error: Snappy decompression failure", "log.parquet is damaged: Invalid"),
    ):
        with pytest.raises(InputError, match=found), explained("log.parquet"):
            raise OSError(said)  # as Arrow passes on what the database says
    with pytest.raises(OSError, match="No space left"), explained():
        raise OSError(28, "No space left on device")  # of a file of ours: whoever writes it knows its name
    with pytest.raises(InputError, match="is damaged: Invalid Input Error: boom"):
        run("select case when range = 299999 then error('boom') else range end as n from range(300000)")


def test_a_disk_that_is_full(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROTA_MEMORY", "20MB")
    with pytest.raises(InputError, match="the disk has no space for what exceeds the 20MB"):
        run(_SHUFFLED, tmp_path, "set max_temp_directory_size = '2MB'")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_printed_by_the_database_itself() -> None:
    with database() as connection:
        shown = connection.con.execute("select current_setting('enable_progress_bar')").fetchall()
    assert shown == [(False,)]
