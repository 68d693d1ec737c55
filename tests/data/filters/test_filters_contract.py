"""What every filter owes; a new file in the room needs one line in EXAMPLES and inherits the rest."""

import dataclasses
import tomllib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
import tomli_w
from filter_logs import BACKENDS, Reference, Row, events_of, kept, logs, rows_of
from hypothesis import given, settings

from roll_call import roll_call
from rota.data import (
    CollapseDuplicates,
    Filter,
    FirstInteraction,
    KCore,
    MinEvents,
    MinItemEvents,
    TimeRange,
    UserCap,
)
from rota.tables import from_table, to_table

# Ibis goes by way of pandas where a database has no Arrow of its own, and asks it for an old option.
pytestmark = pytest.mark.filterwarnings("ignore:The 'future.infer_string' option is deprecated")


def busy_log() -> list[Row]:
    rng = np.random.default_rng(0)
    users, items = (rng.zipf(1.6, 400) % 60, rng.zipf(1.5, 400) % 50)
    columns = users, items, rng.integers(-5, 12, 400), 2 * rng.permutation(400), rng.integers(-9, 9, 400)
    return [Row(*values) for values in np.stack(columns, axis=1).tolist()]


def in_order(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.time, row.row))


def often(column: str, least: int) -> Reference:
    def keep(rows: Sequence[Row]) -> list[Row]:
        counts = Counter(getattr(row, column) for row in rows)
        return [row for row in rows if counts[getattr(row, column)] >= least]

    return keep


def core(users: int, items: int) -> Reference:
    def keep(rows: Sequence[Row]) -> list[Row]:
        left = often("item", items)(often("user", users)(rows))
        return left if len(left) == len(rows) else keep(left)

    return keep


def between(since: int, until: int) -> Reference:
    return lambda rows: [row for row in rows if since <= row.time < until]


def capped(most: int, last: bool) -> Reference:
    def keep(rows: Sequence[Row]) -> list[Row]:
        of_user: dict[object, list[Row]] = {}
        for row in in_order(rows):
            of_user.setdefault(row.user, []).append(row)
        return [row for mine in of_user.values() for row in (mine[-most:] if last else mine[:most])]

    return keep


def first_of_each(*columns: str) -> Reference:
    def keep(rows: Sequence[Row]) -> list[Row]:
        found: dict[object, Row] = {}
        for row in in_order(rows):
            found.setdefault(tuple(getattr(row, column) for column in columns), row)
        return list(found.values())

    return keep


EXAMPLES: dict[str, list[tuple[Filter, str, Reference]]] = {
    "min_events": [
        (MinEvents(4), "min_events(least=4)", often("user", 4)),
        (MinEvents(1), "min_events(least=1)", often("user", 1)),
        (MinEvents(), "min_events(least=5)", often("user", 5)),
    ],
    "min_item_events": [
        (MinItemEvents(4), "min_item_events(least=4)", often("item", 4)),
        (MinItemEvents(), "min_item_events(least=5)", often("item", 5)),
    ],
    "k_core": [
        (KCore(), "k_core(users=5, items=5)", core(5, 5)),
        (KCore(users=3, items=4), "k_core(users=3, items=4)", core(3, 4)),
        (KCore(4, 1), "k_core(users=4, items=1)", core(4, 1)),
    ],
    "time_range": [
        (TimeRange(since=-1, until=6), "time_range(since=-1, until=6)", between(-1, 6)),
        (TimeRange(since=3), "time_range(since=3)", between(3, 100)),
        (TimeRange(until=0), "time_range(until=0)", between(-100, 0)),
        (
            TimeRange("1969-12-31T23:59:58", "1970-01-01T01:00:03+01:00"),
            "time_range(since=1969-12-31T23:59:58, until=1970-01-01T01:00:03+01:00)",
            between(-2, 3),
        ),
    ],
    "user_cap": [
        (UserCap(2), "user_cap(most=2, keep=last)", capped(2, True)),
        (UserCap(3, keep="first"), "user_cap(most=3, keep=first)", capped(3, False)),
        (UserCap(10**6), "user_cap(most=1000000, keep=last)", lambda rows: list(rows)),
    ],
    "first_interaction": [
        (FirstInteraction(), "first_interaction", first_of_each("user", "item")),
    ],
    "collapse_duplicates": [
        (CollapseDuplicates(), "collapse_duplicates", first_of_each("user", "item", "time")),
    ],
}
ALL = [pytest.param(*one, id=one[1]) for members in EXAMPLES.values() for one in members]
EACH = pytest.mark.parametrize(("keep", "label", "reference"), ALL)


def test_nobody_is_forgotten() -> None:
    present = roll_call("data.filters", Filter)  # type: ignore[type-abstract]
    assert {name: {type(keep) for keep, *_ in members} for name, members in EXAMPLES.items()} == {
        name: {made} for name, made in present.items()
    }


@EACH
@pytest.mark.parametrize("backend", BACKENDS)
def test_it_keeps_what_plain_python_keeps(
    keep: Filter, label: str, reference: Reference, backend: str
) -> None:
    @settings(max_examples=10)
    @given(logs())
    def check(rows: list[Row]) -> None:
        assert kept(keep, rows, backend) == sorted(reference(rows), key=lambda row: row.row)

    check()


@EACH
def test_the_order_of_rows_means_nothing(keep: Filter, label: str, reference: Reference) -> None:
    rows = busy_log()
    expected = sorted(reference(rows), key=lambda row: row.row)
    assert kept(keep, rows) == expected
    assert kept(keep, rows[::-1]) == expected
    assert kept(keep, sorted(rows, key=lambda row: (row.item, -row.time))) == expected


@EACH
def test_twice_is_once(keep: Filter, label: str, reference: Reference) -> None:
    once = kept(keep, busy_log())
    assert kept(keep, once) == once


@EACH
def test_nothing_else_changes(keep: Filter, label: str, reference: Reference) -> None:
    events = events_of([Row(1, 2, 3, 4, 0)], zone="Europe/Paris", rows=9, dropped=3)
    left = keep.apply(events)
    assert left.table.schema() == events.table.schema()
    assert dataclasses.replace(left, table=events.table) == events


@EACH
def test_a_log_of_nothing(keep: Filter, label: str, reference: Reference) -> None:
    assert kept(keep, []) == []


@EACH
def test_label_and_table(keep: Filter, label: str, reference: Reference) -> None:
    assert str(keep) == label
    again = from_table(tomllib.loads(tomli_w.dumps(to_table(keep))), Filter)  # type: ignore[type-abstract]
    assert again == keep
    assert str(again) == label


@settings(max_examples=10)
@given(logs(most=40))
def test_one_after_another(rows: list[Row]) -> None:
    steps = [
        (TimeRange(since=-2), between(-2, 100)),
        (CollapseDuplicates(), first_of_each("user", "item", "time")),
        (KCore(3, 2), core(3, 2)),
        (UserCap(4), capped(4, True)),
        (MinItemEvents(2), often("item", 2)),
        (KCore(1, 2), core(1, 2)),
        (FirstInteraction(), first_of_each("user", "item")),
    ]
    events, expected = events_of(rows), rows
    for keep, reference in steps:
        events, expected = keep.apply(events), reference(expected)  # type: ignore[assignment]
    assert rows_of(events) == sorted(expected, key=lambda row: row.row)
