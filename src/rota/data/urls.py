"""A table of a database, by URL: ``duckdb://log.duckdb#events``, ``sqlite://log.db#events``, ``postgres://...``."""

import ibis
from ibis.backends import BaseBackend
from ibis.backends.duckdb import Backend

from rota.data.columns import Wanted, choose_columns
from rota.data.paths import brief
from rota.data.raw import Raw
from rota.data.staging import stage
from rota.errors import InputError

__all__ = []

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
        raise InputError(f"{url}: {_SHAPE}")
    where = f"table {path!r} of {_without_secret(address)}"
    try:
        other = _connect(address)
    except Exception as error:  # each backend raises what its driver does
        raise InputError(
            f"{_without_secret(address)}: cannot be opened: {brief(error)}: check the address"
        ) from error
    try:
        schema, _, name = path.rpartition(".")
        table = other.table(name, database=schema or None)
        columns = choose_columns(wanted, list(table.columns), where)
        chosen = table.select(*columns.present().values())
        types = chosen.schema().to_pyarrow()
        with chosen.to_pyarrow_batches() as batches:
            staged = stage(connection, where, types, columns.time, batches)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{where}: cannot be read: {brief(error)}; {_SHAPE}") from error
    finally:
        other.disconnect()
    return Raw(staged, columns, name, where, types, ordered=False)


def _connect(address: str) -> BaseBackend:
    if address.startswith("duckdb://"):  # or a file that does not exist would be made
        return ibis.duckdb.connect(address.removeprefix("duckdb://"), read_only=True)
    return ibis.connect(address)


def _without_secret(address: str) -> str:
    scheme, _, rest = address.partition("://")
    credentials, at, host = rest.rpartition("@")
    return f"{scheme}://{credentials.partition(':')[0]}{at}{host}"
