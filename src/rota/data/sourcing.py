"""What a person gave as a log, to the thing that opens it."""

from os import PathLike, fspath
from pathlib import Path
from typing import NamedTuple

from ibis.backends.duckdb import Backend

from rota.data.columns import Wanted, choose_columns
from rota.data.formats.base import Format, OnError
from rota.data.frames import ArrowStream, open_frame
from rota.data.paths import find_files, suffix_of
from rota.data.raw import Raw
from rota.data.sources.base import Source
from rota.data.urls import is_url, open_url
from rota.errors import InputError
from rota.rooms import find, offers
from rota.units import Unit

__all__ = []


class Known(NamedTuple):
    """What a source known by name knows of its clock."""

    unit: Unit | None = None
    zone: str | None = None


def open_raw(
    connection: Backend, source: str | PathLike[str] | object, wanted: Wanted, on_error: OnError
) -> tuple[Raw, Known]:
    """Open a source, whatever it is.

    Raises:
        InputError: It is none, or cannot be opened.
    """
    if isinstance(source, Source):
        return _open_source(connection, source, wanted)
    if isinstance(source, str | PathLike):
        name = fspath(source)
        if is_url(name):
            return open_url(connection, name, wanted), Known()
        formats = known_formats()
        if _is_file(name, list(formats)):
            found = find_files(name, list(formats))
            return formats[found.suffix].open(connection, found, wanted, on_error), Known()
        return _open_source(connection, _source(name), wanted)
    if isinstance(source, ArrowStream):
        return open_frame(connection, source, wanted), Known()
    raise InputError(
        f"a log of type {type(source).__name__}: expected a path, the name of a source, the URL of a "
        "database's table, or a DataFrame of pandas, polars or pyarrow"
    )


def known_formats() -> dict[str, Format]:
    """Format by suffix."""
    made = [find("data.formats", name, Format)() for name in offers("data.formats", Format)]  # type: ignore[type-abstract]
    return {suffix: one for one in made for suffix in one.suffixes}


def _is_file(name: str, suffixes: list[str]) -> bool:
    """Whether a name is meant as a path: it exists, looks like one, or is a pattern."""
    path = Path(name)
    return suffix_of(path, suffixes) is not None or path.exists() or any(mark in name for mark in "*?[/\\")


def _source(name: str) -> Source:
    try:
        return find("data.sources", name, Source)()  # type: ignore[type-abstract]
    except InputError as error:
        raise InputError(f"log {name!r}: no such file; as a source: {error}") from error


def _open_source(connection: Backend, source: Source, wanted: Wanted) -> tuple[Raw, Known]:
    table = source.table(connection)
    columns = choose_columns(wanted.or_else(source.columns), list(table.columns), source.name)
    return Raw(table, columns, source.name, source.name), Known(source.unit, source.zone)
