"""RecBole's atomic files: ``.inter``, tab-separated, the type of each column behind its name."""

from dataclasses import dataclass
from typing import ClassVar

from ibis.backends.duckdb import Backend

from rota.data.columns import Columns, Wanted, choose_columns
from rota.data.formats.base import Format, OnError
from rota.data.formats.text import Layout, header, read_text
from rota.data.paths import Found
from rota.data.raw import Raw
from rota.errors import InputError

__all__ = ["Inter"]

_KNOWN = Columns("user_id", "item_id", "timestamp")


@dataclass(frozen=True)
class Inter(Format):
    """RecBole's interactions; columns ``user_id``, ``item_id`` and ``timestamp`` unless told otherwise."""

    suffixes: ClassVar[tuple[str, ...]] = (".inter",)

    def open(self, connection: Backend, found: Found, wanted: Wanted, on_error: OnError) -> Raw:
        """Read the chosen columns as text, named without their types.

        Raises:
            InputError: A file is damaged, a column is missing, or a line cannot be read.
        """
        layout = Layout("\t", quote="")
        if len(found.paths) > 1:
            raise InputError(f"{found.where}: {len(found.paths)} .inter files: expected one")
        names = [name.partition(":")[0] for name in header(found.paths[0], layout)]
        columns = choose_columns(wanted.or_else(_KNOWN), names, str(found.paths[0]))
        chosen = list(columns.present().values())
        table, skipped = read_text(connection, found.paths, layout, names, chosen, on_error)
        return Raw(table, columns, found.paths[0].name, found.where, None, untyped=True, skipped=skipped)
