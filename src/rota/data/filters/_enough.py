"""Who occurs often enough, and the rows of those who do."""

import ibis.expr.types as ir

from rota.errors import InputError


def require_count(name: str, count: int) -> None:
    """Refuse what is no number of events.

    Args:
        name: What the number is called, for the message.
        count: As it was given.

    Raises:
        InputError: It is no whole number from 1 on.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(
            f"{name} {count!r}: expected a whole number of events, at least 1; to keep all, leave it out"
        )


def frequent(table: ir.Table, column: str, least: int) -> ir.Table:
    """Values of a column in at least so many rows; columns: itself, and ``events`` with how many."""
    counts = table.group_by(column).aggregate(events=lambda group: group.count())
    return counts.filter(counts.events >= least)


def among(table: ir.Table, column: str, ids: ir.Table) -> ir.Table:
    """Rows whose value in a column is among those of the same column of another table.

    Written as IN: every database knows it, while SQLite takes one semi-join but not two. DuckDB plans either
    as the same hash join.
    """
    return table.filter(table[column].isin(ids[column]))
