"""Aggregates: what a database gives for an expression, as numbers."""

import ibis
import ibis.expr.types as ir

from rota.types import Int64Array

__all__ = ["columns_of", "floor_to", "one_row"]


def columns_of(table: ir.Table) -> dict[str, Int64Array]:
    """Columns of an aggregate, which are integers, each of shape ``(rows,)``; rows in any order."""
    found = table.to_pyarrow()
    return {name: found.column(name).cast("int64").to_numpy() for name in found.column_names}


def one_row(table: ir.Table) -> dict[str, int]:
    """The only row of an aggregate of integers; the sum or least of nothing is 0."""
    found = table.to_pyarrow().to_pylist()[0]
    return {name: 0 if value is None else int(value) for name, value in found.items()}


def floor_to(value: ir.IntegerValue, size: int) -> ir.IntegerValue:
    """The greatest multiple of a size that is not above a value, also below zero.

    Databases' ``%`` takes the sign of what is divided, and their division may pass through float64.
    """
    rest = value % size
    return value - ibis.ifelse(rest < 0, rest + size, rest)
