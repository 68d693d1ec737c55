"""Small logs with everything a filter may trip over, in two databases, and what filters keep of them."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from typing import NamedTuple

import ibis
import pyarrow as pa
from hypothesis import strategies as st
from ibis.backends.sql import SQLBackend

from rota.data import Events, Filter


class Row(NamedTuple):
    user: int | str
    item: int | str
    time: int
    row: int
    offset: int


Reference = Callable[[Sequence[Row]], list[Row]]

BACKENDS = ("duckdb", "sqlite")
TYPES = {"time": pa.int64(), "row": pa.int64(), "offset": pa.int64()}
_names = count()


@cache
def connection(backend: str) -> SQLBackend:
    made: SQLBackend = getattr(ibis, backend).connect()
    return made


def events_of(log: Sequence[Row], backend: str = "duckdb", **facts: object) -> Events:
    ids = pa.string() if log and isinstance(log[0].user, str) else pa.int64()
    fields = [(name, TYPES.get(name, ids)) for name in Row._fields]
    columns = [[row[k] for row in log] for k in range(len(fields))]
    table = pa.Table.from_arrays(
        [pa.array(c, t) for c, (_, t) in zip(columns, fields, strict=True)], names=list(Row._fields)
    )
    made = connection(backend).create_table(f"log_{next(_names)}", table)
    return Events(**{"table": made, "name": "log", "where": "a/log", "unit": "s", **facts})  # type: ignore[arg-type]


def rows_of(events: Events) -> list[Row]:
    found = events.table.to_pyarrow()
    assert found.column_names == list(Row._fields)
    return sorted((Row(**row) for row in found.to_pylist()), key=lambda row: row.row)


def kept(keep: Filter, rows: Sequence[Row], backend: str = "duckdb", **facts: object) -> list[Row]:
    events = events_of(rows, backend, **facts)
    left = rows_of(keep.apply(events))
    connection(backend).drop_table(events.table.op().name)
    return left


@st.composite
def logs(draw: st.DrawFn, most: int = 25) -> list[Row]:
    """Rows in any order; few users, items and times, so that they repeat; numbers of rows with gaps."""
    ids = draw(st.sampled_from([(1, 7, -3, 2**62), ("a", "A", "ü", "a b\n", "")]))
    event = st.tuples(st.sampled_from(ids), st.sampled_from(ids), st.integers(-4, 9), st.integers(-2, 2))
    events = draw(st.lists(event, min_size=1, max_size=most))
    numbers = draw(st.permutations([3 * k for k in range(len(events))]))
    return [
        Row(user, item, time, number, 3600 * offset)
        for (user, item, time, offset), number in zip(events, numbers, strict=True)
    ]
