"""Where a bad value stands: what an error about it says first."""

from dataclasses import dataclass

import ibis.expr.types as ir

from rota.data.raw import ROW

__all__ = []


@dataclass(frozen=True)
class Place:
    """A column of a source.

    Attributes:
        table: The source, with its ``ROW``.
        where: File, source or DataFrame.
        column: Name of the column.
    """

    table: ir.Table
    where: str
    column: str

    def __str__(self) -> str:
        return f"{self.where}: column {self.column!r}"

    @property
    def values(self) -> ir.Column:
        """The column itself."""
        return self.table[self.column]

    def any(self, bad: ir.BooleanValue) -> bool:
        """Whether a condition holds in some row."""
        return bool(self.table.aggregate(bad=bad.any()).to_pyarrow()["bad"][0].as_py())

    def first(self, bad: ir.BooleanValue) -> tuple[str, object]:
        """Name the first row where a condition holds, and its value; data rows count from 1."""
        rows = self.table.filter(bad)
        found = rows.order_by(ROW).limit(1).select(rows[ROW], rows[self.column]).to_pyarrow().to_pylist()[0]
        return f"{self}, row {found[ROW] + 1}", found[self.column]
