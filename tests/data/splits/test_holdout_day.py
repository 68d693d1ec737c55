"""One-day holdout by hand: the day's borders, and sets of positives."""

import pytest

from logs import log_of, shown
from rota.data import HoldoutDay
from rota.errors import InputError

HOUR, DAY = 3600, 86_400
# a: twice a day for four days; b: not on the third; c: only on the third and fourth; d: within the last only.
WHEN = {"a": range(8, 96, 12), "b": [10, 30, 80], "c": [50, 60, 71, 73], "d": [90]}
ROWS = [(user, f"{user}{hour:02}", HOUR * hour) for user, hours in WHEN.items() for hour in hours]


def test_every_event_of_the_day_is_a_positive() -> None:
    log = log_of(ROWS)
    stages = HoldoutDay("1970-01-03").stages(log)
    assert stages.name == "holdout_day"
    assert shown(log, stages.train) == [("a08 a20", ""), ("b10", "")]
    assert shown(log, stages.validation) == [("a08 a20", "a32 a44"), ("b10", "b30")]
    assert shown(log, stages.test) == [("a08 a20 a32 a44", "a56 a68")]  # b has no event, c no history
    assert shown(log, stages.counted) == [("a08 a20 a32 a44", ""), ("b10 b30", "")]


def test_the_last_day_that_is_over() -> None:
    log = log_of(ROWS)  # the last event is on the fourth day, which the log does not see to its end
    assert HoldoutDay().stages(log).hash == HoldoutDay("1970-01-03").stages(log).hash
    longer = log_of([*ROWS, ("e", "e96", 96 * HOUR)])
    assert HoldoutDay().stages(longer).hash == HoldoutDay("1970-01-04").stages(longer).hash
    assert HoldoutDay().stages(longer).hash != HoldoutDay("1970-01-03").stages(longer).hash


def test_a_day_begins_at_midnight_in_the_one_zone_of_the_log() -> None:
    log = log_of(ROWS, zone="Asia/Tokyo")  # nine hours ahead: the third day is hours 39 to 63
    stages = HoldoutDay("1970-01-03").stages(log)
    assert shown(log, stages.validation) == [("a08", "a20 a32"), ("b10", "b30")]
    assert shown(log, stages.test) == [("a08 a20 a32", "a44 a56")]
    # The last event, hour 92, is at five on the morning of the fifth day there.
    assert HoldoutDay().stages(log).hash == HoldoutDay("1970-01-04").stages(log).hash
    by_row = log_of(ROWS, zone="by row", local=[time + 9 * HOUR for _, _, time in ROWS])
    assert HoldoutDay().stages(by_row).hash == HoldoutDay().stages(log_of(ROWS)).hash  # one border for all
    clock = log_of(ROWS, zone="Asia/Tokyo", absolute=False)
    assert HoldoutDay().stages(clock).hash == HoldoutDay().stages(log_of(ROWS)).hash


def test_a_day_without_a_midnight_begins_when_it_begins() -> None:
    """In Sao Paulo summer time began with 4 November 2018: its first instant is 01:00, 03:00 UTC."""
    begins = 1_541_300_400
    rows = [("u", f"u{k}", begins + HOUR * hour) for k, hour in enumerate([-60, -30, -1, 0, 22, 23])]
    log = log_of(rows, zone="America/Sao_Paulo")
    assert shown(log, HoldoutDay("2018-11-04").stages(log).test) == [("u0 u1 u2", "u3 u4")]  # of 23 hours


def test_refusals() -> None:
    with pytest.raises(InputError, match="day 'yesterday': expected a date"):
        HoldoutDay("yesterday")
    with pytest.raises(InputError, match="unknown zero and a day to hold out needs dates"):
        HoldoutDay().stages(log_of(ROWS, known_epoch=False))
    with pytest.raises(InputError, match="holdout_day leaves no user for the test"):
        HoldoutDay("1970-01-05").stages(log_of(ROWS))
    with pytest.raises(InputError, match="leaves no user for the training"):
        HoldoutDay("1970-01-02").stages(log_of(ROWS))
