"""Hour and weekday against Python's datetime, before and after 1970."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.data.zones import wall_clock
from rota.encodings import Calendar, day_of_week, hour_of_day
from rota.errors import InputError
from rota.tables import from_table, to_table

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@settings(deadline=None)
@given(
    time=st.integers(-5_000_000_000, 8_000_000_000),
    unit=st.sampled_from(list(TICKS)),
    part=st.floats(0, 0.99),
)
def test_against_datetime(time: int, unit: str, part: float) -> None:
    moment = EPOCH + timedelta(seconds=time)
    ticks = torch.tensor([time * TICKS[unit] + int(part * TICKS[unit])])
    assert hour_of_day(ticks, unit).tolist() == [moment.hour]
    assert day_of_week(ticks, unit).tolist() == [moment.weekday()]


def test_edges_by_hand() -> None:
    time = torch.tensor([0, -1, 3599, 3600, 86_399, 86_400, -86_400, -86_401])
    assert hour_of_day(time).tolist() == [0, 23, 0, 1, 23, 0, 0, 23]
    assert day_of_week(time).tolist() == [3, 2, 3, 3, 3, 4, 2, 1]  # the epoch was a Thursday
    assert hour_of_day(time).dtype == day_of_week(time).dtype == torch.int64


@settings(deadline=None, max_examples=50)
@given(time=st.integers(0, 2_000_000_000), zone=st.sampled_from(["Asia/Kolkata", "America/New_York"]))
def test_in_the_log_s_zone_against_the_zone_s_own_rules(time: int, zone: str) -> None:
    ticks = torch.tensor(wall_clock(np.array([time]), "s", zone))
    moment = datetime.fromtimestamp(time, ZoneInfo(zone))
    assert hour_of_day(ticks).tolist() == [moment.hour]
    assert day_of_week(ticks).tolist() == [moment.weekday()]


def test_embedding_is_the_sum_of_four_rows() -> None:
    calendar = Calendar().build(6, "ms")
    key = torch.tensor([[1_700_000_000_000, -1]])
    query = key + 5 * 3_600_000
    wanted = (
        calendar.event_hour.weight[[22, 23]]  # 2023-11-14, a Tuesday, 22:13; 1969-12-31, a Wednesday
        + calendar.event_day.weight[[1, 2]]
        + calendar.query_hour.weight[[3, 4]]
        + calendar.query_day.weight[[2, 3]]
    )
    torch.testing.assert_close(calendar(key, query), wanted[None])


def test_it_refuses_to_guess_and_is_a_recipe() -> None:
    calendar, time = Calendar().build(4), torch.zeros(1, 2, dtype=torch.int64)
    with pytest.raises(InputError, match="the calendar needs the time of each key"):
        calendar(None, time)
    with pytest.raises(InputError, match="the calendar needs the time of each query"):
        calendar(time, None)
    with pytest.raises(InputError, match="time unit 'min'"):
        Calendar().build(4, "min")
    assert from_table(to_table(Calendar()), Calendar) == Calendar()
