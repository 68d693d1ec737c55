"""Wall clocks: equal to the standard library's zone rules, at the edges of summer time too."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.data import read_log

HOUR = 3600
NAMES = {"user": "who", "item": "what", "time": "when"}
SPRING = 1_362_898_800  # 2013-03-10 07:00 UTC: New York goes from 01:59:59 to 03:00:00
AUTUMN = 1_383_458_400  # 2013-11-03 06:00 UTC: New York goes from 01:59:59 to 01:00:00


def table(*ticks: int, users: list[int] | None = None) -> pa.Table:
    return pa.table({"who": users or [1] * len(ticks), "what": list(range(len(ticks))), "when": list(ticks)})


def slow_wall_clock(tick: int, zone: str) -> int:
    local = datetime.fromtimestamp(tick, UTC).astimezone(ZoneInfo(zone))
    return int(local.replace(tzinfo=UTC).timestamp())


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]),
    st.lists(st.integers(0, 2_100_000_000), min_size=2, max_size=30, unique=True),
)
def test_wall_clock_equals_the_standard_library(zone: str, ticks: list[int]) -> None:
    ticks.append(max(ticks) + 60)
    log = read_log(table(*ticks), unit="s", zone=zone, **NAMES)
    assert log.clock.tolist() == [slow_wall_clock(tick, zone) for tick in sorted(ticks)]
    assert log.zone == zone


def test_a_habit_keeps_its_hour_when_summer_time_begins() -> None:
    day = 24 * HOUR
    at_eight = [SPRING - 7 * HOUR + 1 * HOUR + k * day - (HOUR if k > 0 else 0) for k in (-1, 0, 1, 2)]
    log = read_log(table(*at_eight), zone="America/New_York", **NAMES)
    assert {tick % day // HOUR for tick in log.clock.tolist()} == {20}
    assert (log.clock[1:] - log.clock[:-1]).tolist() == [day] * 3


def test_the_hour_that_repeats_keeps_the_order_of_the_instants() -> None:
    ticks = [AUTUMN + 600, AUTUMN - 600, AUTUMN + HOUR, AUTUMN - 2 * HOUR]
    log = read_log(table(*ticks), zone="America/New_York", **NAMES)
    assert log.items.tolist() == [3, 1, 0, 2]
    wall = AUTUMN - 4 * HOUR
    assert log.clock.tolist() == [wall - 2 * HOUR, wall - 600, wall - HOUR + 600, wall]
    assert log.clock[2] < log.clock[1]
    assert log.ties == 0


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_fractions_of_a_second_survive(unit: str) -> None:
    ticks = {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    stamps = [SPRING * ticks - 1, SPRING * ticks, SPRING * ticks + 61 * ticks]
    log = read_log(table(*stamps), zone="America/New_York", **NAMES)
    assert log.clock.tolist() == [
        stamps[0] - 5 * HOUR * ticks,
        stamps[1] - 4 * HOUR * ticks,
        stamps[2] - 4 * HOUR * ticks,
    ]


def test_naive_datetimes_show_the_wall_clock_already() -> None:
    naive = table(SPRING, AUTUMN).set_column(2, "when", pa.array([SPRING, AUTUMN]).cast(pa.timestamp("s")))
    log = read_log(naive, zone="America/New_York", **NAMES)
    assert log.clock.tolist() == [SPRING, AUTUMN]
    assert log.zone == "America/New_York"


def test_a_stated_zone_wins_over_that_of_the_column() -> None:
    stamps = pa.array([SPRING, AUTUMN]).cast(pa.timestamp("s", "Europe/Berlin"))
    log = read_log(table(SPRING, AUTUMN).set_column(2, "when", stamps), zone="America/New_York", **NAMES)
    expected = read_log(table(SPRING, AUTUMN), zone="America/New_York", **NAMES)
    assert log.clock.tolist() == expected.clock.tolist()
    assert log.zone == "America/New_York"


def test_an_offset_is_a_zone() -> None:
    log = read_log(table(SPRING, AUTUMN), zone="+05:30", **NAMES)
    assert log.clock.tolist() == [SPRING + 19_800, AUTUMN + 19_800]
