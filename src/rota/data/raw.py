"""Raw: a source opened but not yet understood: columns of whatever type it has, and the order of its rows."""

from dataclasses import dataclass

import ibis.expr.types as ir
import pyarrow as pa

from rota.data.columns import ROW as ROW
from rota.data.columns import Columns

__all__ = []


@dataclass(frozen=True)
class Raw:
    """A source as a table.

    Attributes:
        table: The chosen columns under their own names, and ``ROW``: int64 from 0, the order in the source.
        columns: Which of them is what.
        name: Short name of the source.
        where: The same for messages, with the path.
        types: Arrow's types of the columns, where the source has them: they know time zones.
        ordered: The order of the rows is the source's own; a table of a database has none.
        untyped: A text file: ids that look like numbers are numbers.
        skipped: Rows that could not be read and were skipped, as asked.
    """

    table: ir.Table
    columns: Columns
    name: str
    where: str
    types: pa.Schema | None = None
    ordered: bool = True
    untyped: bool = False
    skipped: int = 0
