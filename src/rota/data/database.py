"""The embedded database in which logs are read, filtered and sorted, within bounded memory."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import ibis
from ibis.backends.duckdb import Backend

from rota.data.paths import brief
from rota.errors import InputError

__all__ = []

_MEMORY = "ROTA_MEMORY"  # environment: what the database may use, for instance "4GB"
_LEAST_MEMORY = "1GB"  # what sorting twenty million events needs, and a laptop can spare
_NO_MEMORY, _UNREADABLE = ("Out of Memory Error",), ("IO Error", "Invalid Input Error")
_NAMED = re.compile(r"[A-Z][A-Za-z ]* (Error|Exception)\b")  # "Binder Error: ..."
_NO_DISK = ("max_temp_directory_size", "No space left on device", "File too large")


@contextmanager
def database(folder: Path | None = None) -> Iterator[Backend]:
    """A database that lives as long as the block; what exceeds its memory goes to a folder that then goes.

    Args:
        folder: Where to make that folder; by default where the system keeps temporary files.

    Raises:
        InputError: `explained` says when.
    """
    with (
        explained(),
        tempfile.TemporaryDirectory(prefix="rota-", dir=folder, ignore_cleanup_errors=True) as spill,
    ):
        connection = _connect(spill)
        try:
            # Not closed by hand: tables that expressions still hold go with those, and it closes after them.
            yield connection
        except BaseException:
            connection.con.interrupt()  # a query may go on in threads of its own, and keep the program alive
            raise


def _connect(spill: str) -> Backend:
    limit = _limit()
    try:
        connection = ibis.duckdb.connect(":memory:", memory_limit=limit, temp_directory=spill)
    except duckdb.ParserException as error:
        raise InputError(f"{_MEMORY} is {limit!r}: expected a size, for instance {_MEMORY}=4GB") from error
    connection.con.execute("set TimeZone = 'UTC'").fetchall()  # what text with an offset is read into
    connection.con.execute("set enable_progress_bar = false").fetchall()  # it would write among our lines
    return connection


def _limit() -> str:
    return os.environ.get(_MEMORY, _LEAST_MEMORY)


@contextmanager
def explained(where: str = "a file") -> Iterator[None]:
    """Say in one line what stopped the database, where a person can mend it; other errors pass.

    Args:
        where: The source that is read, for the message.

    Raises:
        InputError: There was too little memory or disk, or a file is damaged further in than its header.
        KeyboardInterrupt: Ctrl-C, which the database reports as an error of its own.
    """
    try:
        yield
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise
    except (duckdb.Error, OSError) as error:  # the latter while a result is streamed, without a number
        line = None if getattr(error, "errno", None) else _explanation(str(error), where, brief(error))
        if line is None:
            raise
        raise InputError(line) from error


def _explanation(text: str, where: str, short: str) -> str | None:
    if text.startswith((*_NO_MEMORY, *_UNREADABLE)) and any(sign in text for sign in _NO_DISK):
        return (
            f"the disk has no space for what exceeds the {_limit()} of memory that the database may use: "
            f"free some space, or allow more memory (environment variable {_MEMORY}, for instance 8GB)"
        )
    if text.startswith(_NO_MEMORY):
        return (
            f"the database needs more than the {_limit()} of memory that it may use: allow more "
            f"(environment variable {_MEMORY}, for instance {_MEMORY}=4GB)"
        )
    if text.startswith(_UNREADABLE):
        return f"{where} is damaged: {short}: get it again"
    if not _NAMED.match(text):  # of a file's inner parts
        return f"{where} cannot be read: {short}: if it is damaged, get it again"
    return None
