"""The core is the largest part in which the numbers hold, and leaves no tables behind."""

import gc
from collections import Counter
from itertools import chain, combinations

import ibis
import pytest
from filter_logs import Row, events_of, kept, logs, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.data import Events, KCore

# Ibis goes by way of pandas where a database has no Arrow of its own, and asks it for an old option.
pytestmark = pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated")


def log(pairs: list[tuple[int, int]]) -> list[Row]:
    return [Row(user, item, k, k, 0) for k, (user, item) in enumerate(pairs)]


def holds(rows: list[Row], users: int, items: int) -> bool:
    of_users, of_items = (Counter(getattr(row, name) for row in rows) for name in ("user", "item"))
    return min(of_users.values(), default=users) >= users and min(of_items.values(), default=items) >= items


def subsets(values: set[int | str]) -> list[set[int | str]]:
    sizes = range(len(values) + 1)
    return [set(some) for some in chain.from_iterable(combinations(values, size) for size in sizes)]


@settings(max_examples=20)
@given(logs(most=20), st.integers(1, 4), st.integers(1, 4))
def test_it_is_the_union_of_all_parts_in_which_the_numbers_hold(
    rows: list[Row], users: int, items: int
) -> None:
    largest: set[Row] = set()
    for some_users in subsets({row.user for row in rows}):
        for some_items in subsets({row.item for row in rows}):
            part = [row for row in rows if row.user in some_users and row.item in some_items]
            if holds(part, users, items):
                largest |= set(part)
    found = kept(KCore(users, items), rows)
    assert set(found) == largest
    assert holds(found, users, items)


# A ring, in which everybody has two, and a tail that only unravels from its end, an event a round.
RING = [(k, j % 6) for k in range(6) for j in (k, k + 1)]
TAIL = [(10 + k, 100 + j) for k in range(25) for j in (k, k + 1)]


@pytest.mark.parametrize("backend", ["duckdb", "sqlite"])
def test_many_rounds(backend: str) -> None:
    joined = [(5, 100), *RING, *TAIL]
    assert kept(KCore(2, 2), log(joined), backend) == log(joined)[1 : 1 + len(RING)]
    assert kept(KCore(2, 2), log(TAIL), backend) == []


def test_two_cores_of_one_log_live_side_by_side() -> None:
    # Both pass through the same first round; the first core is done there, the second goes on and drops it.
    rows = log([(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 3), (3, 4), (4, 4)])
    events = events_of(rows)
    first, second = KCore(2, 1).apply(events), KCore(2, 2).apply(events)
    third = KCore(2, 1).apply(events)
    assert rows_of(first) == rows_of(third) == rows[:7]
    assert rows_of(second) == rows[:4]
    del third
    gc.collect()
    assert rows_of(first) == rows[:7]


def test_what_it_stores_goes_with_the_round_and_with_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = ibis.duckdb.connect()
    most = [0]

    def tables() -> int:
        return int(connection.con.execute("select count(*) from duckdb_tables()").fetchone()[0])

    def counting(*args: object, **options: object) -> object:
        made = create(*args, **options)
        most.append(tables())
        return made

    create = connection.create_table
    monkeypatch.setattr(connection, "create_table", counting)
    made = connection.create_table("log", events_of(log([*RING, *TAIL])).table.to_pyarrow())
    left = KCore(2, 2).apply(Events(table=made, name="log", where="log", unit="s"))
    assert len(most) > 25  # tables in many rounds, of which few are there at once:
    assert max(most) <= 6  # the log, a copy of what is left, ids and those of the next round
    assert tables() == 3  # the log, ids of users, ids of items
    assert len(rows_of(left)) == len(RING)
    del left
    gc.collect()
    assert tables() == 1
