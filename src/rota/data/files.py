"""Read three columns of a Parquet or CSV file, in the order of the file."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet

from rota.data.columns import Columns, Wanted, choose_columns
from rota.errors import InputError

__all__ = []  # `read_log` is the way in

_DELIMITERS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
SUFFIXES = (".parquet", *_DELIMITERS)


def suffix_of(path: Path) -> str | None:
    """The suffix by which a file is read, ``None`` where none is known."""
    return next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), None)


def read_file(path: Path, wanted: Wanted) -> tuple[pa.Table, Columns]:
    """Read the three columns of a log and leave the others on the disk.

    Args:
        path: A file that ends in one of `SUFFIXES`.
        wanted: Names of the columns; one that is ``None`` raises with the names that the file has.

    Returns:
        The table, rows in the order of the file, and the columns. Ids of CSV files come as text.

    Raises:
        InputError: The file is missing or damaged, its suffix is unknown, or a column is missing.
    """
    suffix = suffix_of(path)
    if not path.exists():
        raise InputError(f"{path}: no such file: check the path")
    if path.is_dir() or suffix is None:
        what = "a folder" if path.is_dir() else "a file of unknown kind"
        raise InputError(f"{path} is {what}: expected a file that ends in {', '.join(SUFFIXES)}")
    try:
        if suffix == ".parquet":
            return _read_parquet(path, wanted)
        return _read_csv(path, _DELIMITERS[suffix], wanted)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: damaged, or not a {suffix} file: {brief(error)}") from error


def _read_parquet(path: Path, wanted: Wanted) -> tuple[pa.Table, Columns]:
    # ParquetFile and not read_table, which adds columns for folders named like "day=5".
    with parquet.ParquetFile(path) as file:
        columns = choose_columns(wanted, file.schema_arrow.names, str(path))
    # Text ids stay a dictionary from the disk on: one copy of each id instead of one a row.
    with parquet.ParquetFile(path, read_dictionary=[columns.user, columns.item]) as file:
        return file.read(columns=list(columns)), columns


def _read_csv(path: Path, delimiter: str, wanted: Wanted) -> tuple[pa.Table, Columns]:
    # Reviews with line breaks are common in logs; without this flag they break a row in two.
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    with csv.open_csv(path, parse_options=parse) as stream:
        columns = choose_columns(wanted, stream.schema.names, str(path))
    # Ids are read as text, or 007 and 7 would be one user. Only an empty field is missing: "NA" is a name.
    text = pa.dictionary(pa.int32(), pa.string())
    convert = csv.ConvertOptions(
        include_columns=list(columns),
        column_types={columns.user: text, columns.item: text},
        null_values=[""],
        strings_can_be_null=True,
    )
    return csv.read_csv(path, parse_options=parse, convert_options=convert), columns


def brief(error: Exception) -> str:
    """A library's message on one line."""
    line = " ".join(str(error).split())
    return line if len(line) <= 200 else line[:197] + "..."
