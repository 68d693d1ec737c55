"""A table of a database, by URL: ``duckdb://log.duckdb#events``, ``sqlite://log.db#events``, ``postgres://...``."""

from pathlib import Path
from urllib.parse import parse_qs, unquote

import ibis
import ibis.expr.types as ir
from ibis.backends import BaseBackend
from ibis.backends.duckdb import Backend
from ibis.backends.sqlite import Backend as SQLite
from ibis.common.exceptions import TableNotFound

from rota.data.columns import Wanted, choose_columns
from rota.data.paths import brief
from rota.data.raw import Raw
from rota.data.sqlite import stored_rows, stored_types
from rota.data.staging import stage
from rota.errors import InputError

__all__ = []

_SHOWN = 30
_SECRET = ("pass", "pwd", "secret", "token", "key")  # in the names of options
_SHAPE = "expected URL#TABLE, for instance duckdb://log.duckdb#events or postgres://me@host/db#schema.events"


def is_url(source: str) -> bool:
    """Whether a source is written as the URL of a database."""
    return "://" in source


def open_url(connection: Backend, url: str, wanted: Wanted) -> Raw:
    """Stream the chosen columns of a database's table into ours. Its rows have no order of their own.

    Args:
        connection: Where to.
        url: What `ibis.connect` takes, then ``#`` and the table, with its schema where it needs one.
        wanted: Names of the columns.

    Raises:
        InputError: The database cannot be opened, has no such table, or a column is missing.
    """
    address, _, path = url.rpartition("#")
    if not address or not path:
        raise InputError(f"{_public(address or url)}: {_SHAPE}")
    where = f"table {path!r} of {_public(address)}"
    try:
        other = _connect(address)
    except Exception as error:  # each backend raises what its driver does
        raise InputError(
            f"{_public(address)}: cannot be opened: {_scrubbed(error, address)}: check the address"
        ) from error
    try:
        table = _table(other, path, where)
        columns = choose_columns(wanted, list(table.columns), where)
        chosen = table.select(*columns.present().values())
        if isinstance(other, SQLite):
            types = stored_types(other, chosen, where)
            rows = stored_rows(other, Path(address.partition("://")[2]), chosen, types)
            staged = stage(connection, where, types, columns.time, rows)
        else:
            types = chosen.schema().to_pyarrow()
            with chosen.to_pyarrow_batches() as batches:
                staged = stage(connection, where, types, columns.time, batches)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{where}: cannot be read: {_scrubbed(error, address)}") from error
    finally:
        other.disconnect()
    return Raw(staged, columns, path.rpartition(".")[2], where, types, ordered=False)


def _connect(address: str) -> BaseBackend:
    """Connect, changing nothing: SQLite would make a file that does not exist."""
    scheme, _, rest = address.partition("://")
    if scheme == "duckdb":
        return ibis.duckdb.connect(rest, read_only=True)
    if scheme == "sqlite" and not Path(rest).is_file():
        raise FileNotFoundError("no such file")
    return ibis.sqlite.connect(rest) if scheme == "sqlite" else ibis.connect(address)


def _table(other: BaseBackend, path: str, where: str) -> ir.Table:
    schema, _, name = path.rpartition(".")
    try:
        return other.table(name, database=schema or None)
    except TableNotFound as error:
        held = ", ".join(sorted(other.list_tables())[:_SHOWN]) or "none"
        raise InputError(f"{where}: no such table; without a schema it has {held}; {_SHAPE}") from error


def _public(address: str) -> str:
    """An address without its password and without its options, one of which may be a password too."""
    scheme, _, rest = address.partition("?")[0].partition("://")
    credentials, at, host = rest.rpartition("@")
    return f"{scheme}://{credentials.partition(':')[0]}{at}{host}"


def _scrubbed(error: Exception, address: str) -> str:
    """What a driver says, on one line; it may repeat the address, or the password alone."""
    text = str(error).replace(address, _public(address))
    _, _, rest = address.partition("://")
    given = rest.rpartition("@")[0].partition(":")[2]
    options = parse_qs(rest.partition("?")[2]).items()
    told = [value for name, values in options for value in values if any(sign in name for sign in _SECRET)]
    for secret in sorted({given, unquote(given), *told} - {""}, key=len, reverse=True):
        text = text.replace(secret, "***")
    return brief(Exception(text))
