"""One row of each instant at which a user has an item."""

import ibis.expr.types as ir


def first_rows(table: ir.Table) -> ir.Table:
    """The first row of each user, item and time; columns ``user``, ``item``, ``time``, ``row``.

    Aggregates, because DuckDB moves what they do not have room for to disk. A window over user and item did
    not: it ran out of 1 GB at 20 million rows, where this needs 11 s.
    """
    return table.group_by("user", "item", "time").aggregate(row=lambda group: group.row.min())
