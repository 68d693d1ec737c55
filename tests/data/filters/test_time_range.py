"""Periods by dates and by numbers, on clocks of all kinds."""

from datetime import UTC, datetime

import pytest
from filter_logs import Row, kept
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.data import TimeRange
from rota.errors import InputError

UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
NOON = 1_333_281_600  # 2012-04-01T12:00:00Z


def at(*times: int) -> list[Row]:
    return [Row(1, 1, time, k, 0) for k, time in enumerate(times)]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "text",
    ["2012-04-01T12:00:00", "2012-04-01T12:00Z", "2012-04-01T14:00:00+02:00", "2012-04-01 06:30-05:30"],
)
def test_one_instant_in_many_spellings(text: str, unit: str) -> None:
    noon = NOON * UNITS[unit]
    rows = at(noon - 1, noon, noon + 1)
    assert kept(TimeRange(since=text), rows, unit=unit) == rows[1:]
    assert kept(TimeRange(until=text), rows, unit=unit) == rows[:1]


def test_a_date_is_its_first_instant_and_until_is_out() -> None:
    day = 86_400
    midnight = NOON - day // 2
    rows = at(midnight - 1, midnight, midnight + day - 1, midnight + day)
    assert kept(TimeRange("2012-04-01", "2012-04-02"), rows) == rows[1:3]
    assert kept(TimeRange("2012-04-01", midnight + day), rows) == rows[1:3]


def test_text_without_offset_is_the_wall_clock_where_the_log_shows_one() -> None:
    rows = at(NOON - 1, NOON)
    assert kept(TimeRange(since="2012-04-01T12:00"), rows, absolute=False, zone="Asia/Tokyo") == rows[1:]
    with pytest.raises(InputError, match="has an offset, but the times are readings of a wall clock: leave"):
        kept(TimeRange(since="2012-04-01T12:00Z"), rows, absolute=False)


def test_numbers_where_the_epoch_is_unknown() -> None:
    rows = at(-5, 0, 5)
    assert kept(TimeRange(since=0, until=5), rows, known_epoch=False) == rows[1:2]
    with pytest.raises(InputError, match=r"unknown zero, so until '1980-01-01' .* whole number in unit 's'"):
        kept(TimeRange(until="1980-01-01"), rows, known_epoch=False)


@settings(max_examples=15)
@given(st.datetimes(datetime(1950, 1, 1), datetime(2050, 1, 1)), st.sampled_from(sorted(UNITS)))
def test_fractions_of_a_tick_round_up(moment: datetime, unit: str) -> None:
    aware = moment.replace(tzinfo=UTC)
    micro = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // datetime.resolution
    near = [micro * UNITS[unit] // 10**6 + step for step in (-1, 0, 1)]
    since = [row.time for row in kept(TimeRange(since=moment.isoformat()), at(*near), unit=unit)]
    until = [row.time for row in kept(TimeRange(until=moment.isoformat()), at(*near), unit=unit)]
    assert since == [time for time in near if time * 10**6 >= micro * UNITS[unit]]
    assert until == [time for time in near if time * 10**6 < micro * UNITS[unit]]


@pytest.mark.parametrize("limit", ["9999-12-31", "0001-01-01", 2**70, -(2**70)])
def test_limits_beyond_the_clock(limit: str | int) -> None:
    late = limit in ("9999-12-31", 2**70)
    rows = at(-(2**62), 0, 2**62)
    assert kept(TimeRange(since=limit), rows, unit="ns") == ([] if late else rows)
    assert kept(TimeRange(until=limit), rows, unit="ns") == (rows if late else [])


@pytest.mark.parametrize(
    ("since", "until"),
    [
        (5, 5),
        (6, 5),
        ("2012-04-02", "2012-04-01"),
        ("2012-04-01", "2012-04-01T00:00Z"),
        ("2012-04-01T12:00+02:00", "2012-04-01T10:00"),
    ],
)
def test_a_period_without_time_is_refused_when_it_is_made(since: str | int, until: str | int) -> None:
    with pytest.raises(InputError, match=r"since .* until .* holds no time: expected since before until"):
        TimeRange(since, until)


def test_a_period_without_time_on_the_clock_of_the_log_is_refused() -> None:
    for period in (
        TimeRange("2012-04-01T12:00", NOON),
        TimeRange("2012-04-01T12:00:00.2", "2012-04-01T12:00:00.4"),
    ):
        with pytest.raises(InputError, match="holds no time"):
            kept(period, at(NOON))


@pytest.mark.parametrize(
    "text",
    ["", "2012", "yesterday", "01.04.2012", "2012-02-30", "2012-04-01T12:00:00.123456789", "1333281600"],
)
def test_unreadable_text_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^since '.*': expected ISO 8601 to the microsecond"):
        TimeRange(since=text)


def test_neither_is_refused() -> None:
    with pytest.raises(
        InputError, match="without since and until keeps everything: give one, or leave it out"
    ):
        TimeRange()


def test_a_truth_value_is_no_time() -> None:
    with pytest.raises(InputError, match="until True: expected ISO 8601 text"):
        TimeRange(until=True)
