"""Where a value came from: what an error about it says first."""

from dataclasses import dataclass

from rota.types import Int64Array

__all__ = []


@dataclass(frozen=True)
class Place:
    """A column of a log.

    Attributes:
        log: File, source or DataFrame.
        column: Name of the column.
        rows: Number of each value's row in the source, from 0; rows without ids have been left out.
    """

    log: str
    column: str
    rows: Int64Array

    def __str__(self) -> str:
        return f"{self.log}: column {self.column!r}"

    def row(self, index: int) -> str:
        """Name one value's place; data rows count from 1, the header not included."""
        return f"{self}, row {int(self.rows[index]) + 1}"
