"""Text files whose layout is known: every value is of its type, or the row is named."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import ibis
import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from rota.data.formats.base import OnError
from rota.data.formats.text import Layout, header, read_text
from rota.data.places import Place
from rota.errors import InputError


def read_published(connection: Backend, path: Path, layout: Layout, names: Sequence[str]) -> ir.Table:
    """Lay a file down as it is: texts under the given names, and ``ROW``.

    Raises:
        InputError: The file has other columns, or a line cannot be read.
    """
    if layout.titled:
        found = header(path, layout)
        if found != list(names):
            raise InputError(
                f"{path}: the columns are {', '.join(found)}; expected {', '.join(names)}: another version "
                "of the data; read it as a file of its own, naming its columns"
            )
    table, _ = read_text(connection, [path], layout, names, names, OnError.STOP)
    return table


def typed(table: ir.Table, where: Path, types: Mapping[str, str]) -> ir.Table:
    """Texts as numbers.

    Args:
        table: What `read_published` gave.
        where: The file, for the message.
        types: Ibis's type by column; other columns stay text.

    Raises:
        InputError: A value is not of its column's type. An empty field stays null.
    """
    return understood(table, where, {name: number(table[name], kind) for name, kind in types.items()})


def number(text: ir.StringValue, kind: str) -> ir.NumericValue:
    """Number that a text spells; null where it spells none of that type."""
    if kind == "int64":  # the cast alone would round a fraction
        text = ibis.ifelse(text.re_search(r"^-?[0-9]+$"), text, ibis.null("string"))
    return text.try_cast(kind)


def understood(table: ir.Table, where: Path, meanings: Mapping[str, ir.Value]) -> ir.Table:
    """Replace texts by what they mean.

    Args:
        table: What `read_published` gave.
        where: The file, for the message.
        meanings: By column, an expression that is null where its text means nothing.

    Raises:
        InputError: A text means nothing; the first such row is named.
    """
    bad = {name: table[name].notnull() & value.isnull() for name, value in meanings.items()}
    [found] = table.aggregate(**{name: wrong.any() for name, wrong in bad.items()}).to_pyarrow().to_pylist()
    for name, wrong in bad.items():
        if found[name]:
            place, value = Place(table, str(where), name).first(wrong)
            kind = meanings[name].type()
            raise InputError(
                f"{place}: {value!r}, expected {kind}: not the published layout; get the file anew"
            )
    return table.mutate(**meanings)
