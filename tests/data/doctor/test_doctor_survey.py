"""The survey against plain Python, on two databases, whole and in parts."""

from collections import Counter, defaultdict
from datetime import date
from itertools import pairwise
from typing import Any

import ibis
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs_to_examine import DAY, HOUR, Row, events_of

from rota.data.doctor import count_neighbours, count_people, take_survey
from rota.errors import InputError

NOW = date(2020, 10, 1)
FUTURE = 1_601_510_400 + 2 * DAY  # the day of NOW begins, and two days later

times = st.one_of(
    st.integers(-5, 5), st.integers(0, 12).map(lambda k: 600 * k), st.integers(1, 9).map(lambda k: k * DAY)
)
rows = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), times), min_size=1, max_size=40)


def plainly(log: list[Row]) -> dict[str, Any]:
    """What the survey counts, by loops."""
    by_user, by_item = defaultdict(list), defaultdict(list)
    for row, (user, item, time) in enumerate(log):
        by_user[user].append((time, item, row))
        by_item[item].append(time)
    pairs = [pair for events in by_user.values() for pair in pairwise(sorted(events))]
    ends = [{item for time, item, _ in each if time == max(each)[0]} for each in by_user.values()]
    enough = [each for each in by_item.values() if len(each) >= 3]
    lasting = [[time for time, _, _ in each] for each in by_user.values() if len(each) >= 3]
    clock = [time for _, _, time in log]
    return {
        "events": len(log), "first": min(clock), "last": max(clock), "users": len(by_user),
        "items": len(by_item), "zeros": clock.count(0), "negatives": sum(time < 0 for time in clock),
        "first_positive": min((time for time in clock if time > 0), default=0),
        "future": sum(time >= FUTURE for time in clock),
        "ties": sum(a[0] == b[0] for a, b in pairs),
        "repeated": len(log) - len(set(log)),
        "backward": sum(a[0] < b[0] and a[2] > b[2] for a, b in pairs),
        "tied_users": sum(len(items) > 1 for items in ends),
        "lasting_items": len(enough), "brief_items": sum(max(each) - min(each) <= HOUR for each in enough),
        "lasting_users": len(lasting), "brief_users": sum(max(each) - min(each) <= DAY for each in lasting),
        "on_grid": {
            name: sum(time % size == 0 for time in clock)
            for name, size in (("day", DAY), ("hour", HOUR), ("minute", 60), ("second", 1))
        },
    }  # fmt: skip


def two_digits(gap: int) -> int:
    step = 10 ** max(len(str(gap)) - 2, 0)
    return gap // step * step


@settings(max_examples=10)
@given(log=rows)
def test_it_counts_what_loops_count(log: list[Row]) -> None:
    counts_as_loops_do(log, ibis.duckdb.connect())


# The library's own access to an option of pandas that is to go.
@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")
def test_another_database_counts_the_same() -> None:
    rng = np.random.default_rng(0)
    log: list[Row] = [
        ("abcd"[rng.integers(4)], "xyz"[rng.integers(3)], int(rng.integers(-3, 40)) * 600) for _ in range(80)
    ]
    counts_as_loops_do(log, ibis.sqlite.connect())


def counts_as_loops_do(log: list[Row], connection: Any) -> None:
    survey = take_survey(events_of(log, connection), NOW)
    plain = plainly(log)
    assert {name: getattr(survey, name) for name in plain} == plain
    by_user = Counter(user for user, _, _ in log)
    sizes = Counter(by_user.values())
    assert dict(zip(survey.per_user.values.tolist(), survey.per_user.times.tolist(), strict=True)) == sizes
    assert by_user[survey.busiest] == max(by_user.values())
    days = Counter(time // DAY for _, _, time in log)
    assert survey.daily is not None
    assert dict(zip(survey.daily.values.tolist(), survey.daily.times.tolist(), strict=True)) == days
    assert survey.clock is not None
    week = Counter(((time // DAY + 3) % 7) * 24 + time % DAY // HOUR for _, _, time in log)
    assert survey.clock.of_week() == tuple(week[hour] for hour in range(168))


@given(log=rows, part=st.integers(1, 50))
@settings(max_examples=8)
def test_parts_of_users_add_up(log: list[Row], part: int) -> None:
    table = events_of(log).table
    people = count_people(table)
    whole, parts = count_neighbours(table, people), count_neighbours(table, people, part)
    assert (whole.ties, whole.repeated, whole.backward) == (parts.ties, parts.repeated, parts.backward)
    assert whole.gaps.values.tolist() == parts.gaps.values.tolist()
    assert whole.gaps.times.tolist() == parts.gaps.times.tolist()


@pytest.mark.parametrize("gap", [1, 9, 10, 99, 100, 101, 999, 1000, 123_456, 10**9, 10**15 + 7, 2**62])
def test_gaps_keep_two_digits(gap: int) -> None:
    table = events_of([("a", "x", 0), ("a", "y", gap)]).table
    assert count_neighbours(table, count_people(table)).gaps.values.tolist() == [two_digits(gap)]


def test_a_crowded_instant_is_found_and_others_are_none() -> None:
    spread: list[Row] = [("a", k, 7919 * k) for k in range(300)]
    assert take_survey(events_of(spread), NOW).crowd == 0
    crowded = take_survey(events_of([*spread, *(("b", k, 77_777) for k in range(9))]), NOW)
    assert (crowded.crowded, crowded.crowd) == (77_777, 9)


def test_it_refuses_what_it_cannot_count() -> None:
    log = events_of([("a", "x", 1)])
    empty = log.having(log.table.filter(log.table.time > 1))
    with pytest.raises(InputError, match=r"log.csv: no event to examine"):
        take_survey(empty, NOW)
    with pytest.raises(InputError, match=r"log.csv: times from -\d+ to \d+ s: too far apart for int64"):
        take_survey(events_of([("a", "x", -(2**62)), ("a", "x", 2**62)]), NOW)
    with pytest.raises(InputError, match=r"unknown time zone 'Mars/Olympus'"):
        take_survey(events_of([("a", "x", 1)], zone="Mars/Olympus"), NOW)
