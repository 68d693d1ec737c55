"""Hours of the week on users' clocks, against Python's own rules of zones; counts and their quantiles."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs_to_examine import DAY, HOUR, Row, events_of

from rota.data.doctor import count_values, examine

NOW = date(2026, 1, 1)
ZONES = ("America/New_York", "Europe/Paris", "Asia/Kolkata", "Australia/Lord_Howe")
ROUND_A_YEAR: list[Row] = [("a", "x", 1_577_836_800 + 5 * HOUR * k + 11 * k) for k in range(1700)]


def week(instants: list[datetime]) -> tuple[int, ...]:
    hours = Counter(instant.weekday() * 24 + instant.hour for instant in instants)
    return tuple(hours[hour] for hour in range(168))


@pytest.mark.parametrize("zone", ZONES)
def test_summer_time_and_half_hours(zone: str) -> None:
    found = examine(events_of(ROUND_A_YEAR, zone=zone), NOW)
    local = [datetime.fromtimestamp(time, ZoneInfo(zone)) for _, _, time in ROUND_A_YEAR]
    assert found.hours_local == week(local)
    assert found.hours_utc == week([instant.astimezone(UTC) for instant in local])
    assert found.daily_start == local[0].date().isoformat()
    days = Counter(instant.date() for instant in local)
    assert found.daily == tuple(days[local[0].date() + timedelta(k)] for k in range(len(found.daily)))


def test_a_zone_for_each_row() -> None:
    zones = [ZONES[k % 3] for k in range(len(ROUND_A_YEAR))]
    found = examine(events_of(ROUND_A_YEAR, zones=zones), NOW)
    rows = zip(ROUND_A_YEAR, zones, strict=True)
    assert found.hours_local == week([datetime.fromtimestamp(row[2], ZoneInfo(zone)) for row, zone in rows])
    assert found.zone == "by row"


def test_an_offset_for_each_row() -> None:
    offsets = [(k % 27 - 12) * 1800 for k in range(len(ROUND_A_YEAR))]
    found = examine(events_of(ROUND_A_YEAR, offsets=offsets), NOW)
    rows = zip(ROUND_A_YEAR, offsets, strict=True)
    local = [datetime.fromtimestamp(row[2], timezone(timedelta(seconds=offset))) for row, offset in rows]
    assert found.hours_local == week(local)


def test_readings_of_a_wall_clock_have_no_utc() -> None:
    found = examine(events_of(ROUND_A_YEAR, absolute=False), NOW)
    assert found.hours_utc is None
    assert found.hours_local == week([datetime.fromtimestamp(time, UTC) for _, _, time in ROUND_A_YEAR])


def test_an_unknown_zero_has_no_hours_and_no_dates() -> None:
    found = examine(events_of(ROUND_A_YEAR, known_epoch=False), NOW)
    assert (found.hours_utc, found.hours_local, found.daily_start, found.start) == (None,) * 4
    assert sum(found.daily) == len(ROUND_A_YEAR)
    assert "202" not in "".join(each.message for each in found.findings)


@pytest.mark.parametrize(("unit", "ticks"), [("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_units_change_nothing_but_ticks(unit: str, ticks: int) -> None:
    coarse = examine(events_of(ROUND_A_YEAR, zone="Europe/Paris"), NOW)
    log: list[Row] = [(user, item, time * ticks) for user, item, time in ROUND_A_YEAR]
    fine = examine(events_of(log, zone="Europe/Paris", unit=unit), NOW)
    for name in ("hours_local", "hours_utc", "daily", "span_days", "gaps", "events_per_user", "resolution"):
        assert getattr(fine, name) == getattr(coarse, name)


def test_midnights_of_a_zone_are_whole_days() -> None:
    paris = ZoneInfo("Europe/Paris")
    local = [datetime(2020, 1, 1, tzinfo=paris) + timedelta(k) for k in range(300)]
    log: list[Row] = [("a", k, int(instant.timestamp())) for k, instant in enumerate(local)]
    assert examine(events_of(log), NOW).resolution == "hour"  # two times of day: winter's and summer's
    assert examine(events_of(log, zone="Europe/Paris"), NOW).resolution == "day"
    assert (
        examine(
            events_of([(u, i, T % DAY + DAY * k) for k, (u, i, T) in enumerate(log[:80])]), NOW
        ).resolution
        == "day"
    )


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=60))
def test_quantiles_are_those_of_a_sorted_list(values: list[int]) -> None:
    array = np.array(values, dtype=np.int64)
    counts = count_values(array, np.ones_like(array))
    for percent in (0, 1, 50, 90, 99, 100):
        assert counts.quantile(percent) == int(np.quantile(array, percent / 100, method="inverted_cdf"))
    edges = [-101, -3, 0, 50, 101]
    assert counts.between(edges) == np.histogram(array, edges)[0].tolist()
