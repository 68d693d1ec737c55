"""Text with separators: CSV and TSV, plain or gzipped. Every field is read as text and understood later."""

import csv
import glob
import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import ClassVar, Literal
from uuid import uuid4

import duckdb
import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from rota.data.columns import Wanted, choose_columns
from rota.data.formats.base import Format, OnError
from rota.data.paths import Found, brief
from rota.data.raw import ROW, Raw
from rota.errors import InputError

__all__ = ["Text"]

_SHOWN = 3
_SEPARATOR = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}


@dataclass(frozen=True)
class Text(Format):
    """CSV or TSV files with one line of names on top."""

    suffixes: ClassVar[tuple[str, ...]] = tuple(_SEPARATOR)

    def open(self, connection: Backend, found: Found, wanted: Wanted, on_error: OnError) -> Raw:
        """Read the chosen columns as text; only an empty field is missing: "NA" is a name.

        Raises:
            InputError: A file is damaged, they have different names on top, a column is missing, or a line
                has too few or too many fields and is not to be skipped.
        """
        layout = Layout(_SEPARATOR[found.suffix])
        names = [header(path, layout) for path in found.paths]
        for path, others in zip(found.paths, names, strict=True):
            if others != names[0]:
                raise InputError(
                    f"{path} has the columns {', '.join(others)}; {found.paths[0]} has "
                    f"{', '.join(names[0])}: expected files of one layout"
                )
        columns = choose_columns(wanted, names[0], str(found.paths[0]))
        chosen = list(columns.present().values())
        table, skipped = read_text(connection, found.paths, layout, names[0], chosen, on_error)
        return Raw(table, columns, found.paths[0].name, found.where, None, untyped=True, skipped=skipped)


@dataclass(frozen=True)
class Layout:
    """How a text file is written.

    Attributes:
        separator: Between fields.
        quote: Around fields that hold separators or line breaks; empty for none.
        encoding: ``"utf-8"`` or ``"latin-1"``.
        titled: The first line holds the names of the columns.
    """

    separator: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    titled: bool = True


def header(path: Path, layout: Layout) -> list[str]:
    """Names on top of a text file.

    Raises:
        InputError: The file is empty or damaged.
    """
    try:
        with _plain(path) as raw:
            lines = _decoded(raw, layout.encoding)
            quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quote else csv.QUOTE_NONE
            names = next(csv.reader(lines, delimiter=layout.separator, quoting=quoting), [])
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"{path}: damaged, or no text with a line of names on top: {brief(error)}"
        ) from error
    if not names:
        raise InputError(f"{path} is empty: expected a line with the names of the columns, and rows below it")
    return names


def _decoded(raw: BufferedIOBase, encoding: str) -> Iterator[str]:
    """Lines, one by one: what follows the names may be of another kind, and is not looked at here."""
    for number, line in enumerate(raw):
        text = line.decode(encoding)
        yield text if number else text.removeprefix("\ufeff")


def read_text(
    connection: Backend,
    paths: Sequence[Path],
    layout: Layout,
    names: Sequence[str],
    chosen: Sequence[str],
    on_error: OnError,
) -> tuple[ir.Table, int]:
    """Lay text files down in the database, rows numbered as they lie in the files.

    Args:
        connection: Where to.
        paths: Files of one layout.
        layout: How they are written.
        names: All columns, in order.
        chosen: Those that are wanted.
        on_error: What becomes of a line with another number of fields.

    Returns:
        A table of texts and ``ROW``, and the number of lines skipped.

    Raises:
        InputError: A file is damaged, or a line cannot be read and is not to be skipped.
    """
    for path in paths:
        _require_whole(path)
    raw, name = connection.con, f"text_{uuid4().hex}"
    # Names of our own: those of the file may differ only in case, which the database cannot tell apart.
    fields = {f"f{k}": "VARCHAR" for k in range(len(names))}
    picked = ", ".join(f'f{list(names).index(one)} as "{_escaped(one)}"' for one in chosen)
    rejects = f"rejects_{uuid4().hex}"
    try:
        raw.execute(
            f'create temporary table "{name}" as select {picked}, row_number() over () - 1 as {ROW} '
            f"from read_csv(?, auto_detect = false, columns = {fields}, header = {layout.titled}, delim = ?, "
            "quote = ?, escape = ?, encoding = ?, store_rejects = true, rejects_limit = 0, "
            f"rejects_table = '{rejects}', rejects_scan = '{rejects}_scan', compression = ?)",
            [
                [glob.escape(str(path)) for path in paths],  # a name may hold what would be a pattern
                layout.separator, layout.quote, layout.quote, layout.encoding,
                "gzip" if _is_zipped(paths[0]) else "none",
            ],
        ).fetchall()  # fmt: skip
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        where = ", ".join(str(path) for path in paths[:_SHOWN])
        if "state machine" in str(error):
            raise InputError(
                f"{where}: not all lines end alike (some in \\n, some in \\r\\n), or a quote is out of "
                "place: correct the file"
            ) from error
        raise InputError(f"{where}: damaged, or not text with separators: {brief(error)}") from error
    skipped = _rejected(raw, rejects, layout, on_error)
    return connection.table(name), skipped


def _escaped(name: str) -> str:
    return name.replace('"', '""')


def _rejected(raw: duckdb.DuckDBPyConnection, rejects: str, layout: Layout, on_error: OnError) -> int:
    """Number of lines that could not be read.

    Raises:
        InputError: There is one and it is not to be skipped, or a quote does not close: then lines after it
            are lost too, and nobody knows how many.
    """
    [(count,)] = raw.execute(f"select count(distinct (file_id, line)) from {rejects}").fetchall()
    lost = "error_type = 'UNQUOTED VALUE' and contains(csv_line, chr(10))"
    first = raw.execute(
        f"select file_path, line_byte_position, error_message, {lost} from {rejects} join {rejects}_scan "
        f"using (scan_id, file_id) where {lost} or {on_error == OnError.STOP} order by file_id, line limit 1"
    ).fetchall()
    if not first:
        return int(count)
    path, position, message, loses = first[0]
    where = f"{path}, line {_line(Path(path), position)}"
    if loses:
        raise InputError(
            f"{where}: a quote that opens here does not close where a field ends: correct the line"
        )
    raise InputError(
        f"{where}: {brief(Exception(message))}: correct or remove the line, or skip such lines, {count} of "
        "them (on_error=, --on-error skip)"
    )


def _line(path: Path, position: int) -> int:
    """Line of a byte, counted as an editor does: the database counts a field with line breaks as one line.

    Args:
        path: The file.
        position: Of the line's first byte, from 1; after a carriage return, of the line feed before it.
    """
    before = 0
    with _plain(path) as file:
        while position > 0 and (part := file.read(min(position, 2**20))):
            before += part.count(b"\n")
            position -= len(part)
    return before + 1


def _require_whole(path: Path) -> None:
    """Read a gzipped file through: the database takes one that was cut off for one that ends there."""
    if not _is_zipped(path):
        return
    try:
        with _plain(path) as file:
            while file.read(2**20):
                pass
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged: {brief(error)}: get it again") from error


def _is_zipped(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _plain(path: Path) -> BufferedIOBase:
    return gzip.open(path, "rb") if _is_zipped(path) else path.open("rb")
