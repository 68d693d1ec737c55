"""Global temporal split by hand: borders, gap, warm-up, which events are asked for."""

import pytest

from logs import log_of, shown
from rota.data import Temporal
from rota.data.events import Ties
from rota.errors import InputError

# Time is in the item's name; a is there throughout, b is cold before 40, c has two events at 50.
TIMES = {"a": [0, 10, 20, 30, 40, 50, 60, 70], "b": [35, 45, 55, 65], "c": [5, 25, 50, 50, 75]}
ROWS = [(user, f"{user}{time:02}", time) for user, times in TIMES.items() for time in sorted(times)]
ROWS = [(user, item + "'" if row == 15 else item, time) for row, (user, item, time) in enumerate(ROWS)]
AT_40, AT_60 = "1970-01-01T00:00:40", "1970-01-01T00:01:00"


def test_the_first_instant_of_each_period() -> None:
    log = log_of(ROWS)
    stages = Temporal(AT_60, AT_40).stages(log)
    assert stages.name == "temporal"
    assert shown(log, stages.train) == [("a00 a10 a20 a30", ""), ("b35", ""), ("c05 c25", "")]
    assert shown(log, stages.validation) == [
        ("a00 a10 a20 a30", "a40"), ("b35", "b45"), ("c05 c25", "c50 c50'"),
    ]  # fmt: skip
    assert shown(log, stages.test) == [
        ("a00 a10 a20 a30 a40 a50", "a60"), ("b35 b45 b55", "b65"), ("c05 c25 c50 c50'", "c75"),
    ]  # fmt: skip
    assert shown(log, stages.counted) == [(history, "") for history, _ in shown(log, stages.test)]


def test_every_instant_one_after_another() -> None:
    log = log_of(ROWS)
    stages = Temporal(AT_60, AT_40, targets="all").stages(log)
    assert [asked for _, asked in shown(log, stages.validation)] == ["a40", "a50", "b45", "b55", "c50 c50'"]
    assert shown(log, stages.test)[:2] == [
        ("a00 a10 a20 a30 a40 a50", "a60"), ("a00 a10 a20 a30 a40 a50 a60", "a70"),
    ]  # fmt: skip
    assert stages.test.users.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("ties", Ties)
def test_an_instant_is_a_set_whatever_orders_it(ties: Ties) -> None:
    log = log_of(ROWS, ties)
    assert shown(log, Temporal(AT_60, AT_40).stages(log).validation)[2] == ("c05 c25", "c50 c50'")


def test_a_gap_separates_what_is_learnt_from_what_is_asked() -> None:
    log = log_of(ROWS)
    stages = Temporal(AT_60, AT_40, gap="10s", targets="all").stages(log)
    assert shown(log, stages.train) == [("a00 a10 a20", ""), ("c05 c25", "")]  # before 30
    assert [asked for _, asked in shown(log, stages.validation)] == ["a40", "b45"]  # before 50
    assert shown(log, stages.counted)[0] == ("a00 a10 a20 a30 a40", "")
    assert shown(log, stages.test)[0] == ("a00 a10 a20 a30 a40 a50", "a60")  # his own history has no gap
    assert Temporal(AT_60, AT_40, gap=0).stages(log).hash == Temporal(AT_60, AT_40).stages(log).hash


def test_users_need_events_before_the_period() -> None:
    log = log_of(ROWS)
    stages = Temporal(AT_60, AT_40, warm_up=3).stages(log)
    assert stages.validation.users.tolist() == [0]
    assert stages.test.users.tolist() == [0, 1, 2]
    assert len(stages.train.users) == 3  # learning has no such need
    at_one = Temporal("1970-01-01T00:00:50", "1970-01-01T00:00:30", targets="all").stages(log)
    assert at_one.validation.users.tolist() == [0, 0]  # b is cold at 30, and stays so; c has nothing


def test_a_share_is_of_the_events() -> None:
    log = log_of(ROWS)  # 17 events: 13 before 60, 7 before 40
    by_share = Temporal(13 / 17 + 0.01, 7 / 17 + 0.01, targets="all").stages(log)
    assert by_share.hash == Temporal(AT_60, AT_40, targets="all").stages(log).hash
    unknown = log_of(ROWS, known_epoch=False)
    assert Temporal(13 / 17 + 0.01, 7 / 17 + 0.01, targets="all").stages(unknown).hash == by_share.hash


HOUR = 3600
# Midnight of 1 April 2018 in New York is 04:00 UTC.
NEW_YORK = 1_522_555_200
NIGHT = [("u", f"i{k}", NEW_YORK - 2 * HOUR + HOUR * k) for k in range(6)]


def test_an_instant_without_an_offset_is_utc() -> None:
    early = [("u", "old", NEW_YORK - 9 * HOUR), ("u", "older", NEW_YORK - 8 * HOUR)]

    def asked(text: str, **about: object) -> str:
        log = log_of([*early, *NIGHT], **about)  # type: ignore[arg-type]
        return shown(log, Temporal(text, "2018-03-31T21:00:00").stages(log).test)[0][1]

    assert asked("2018-04-01T05:00") == "i3"
    for zone in ("America/New_York", "by row"):
        assert asked("2018-04-01T05:00", zone=zone) == "i3"
    assert asked("2018-04-01T05:00", zone="America/New_York", absolute=False) == "i3"  # readings of a clock
    assert asked("2018-04-01T07:00+02:00") == "i3"
    assert asked("2018-04-01T07:00+02:00", zone="America/New_York") == "i3"
    assert asked("2018-04-01T05:00:00.5") == "i4"  # rounded up: the event at 05:00:00 is before it


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (Temporal("soon", 0.5), "test 'soon': expected ISO 8601"),
        (Temporal("1970-01-01T00:00:00.1234567", 0.5), "expected ISO 8601 to the microsecond"),
        (Temporal(0.9, 1.5), "validation 1.5: expected a share between 0 and 1"),
        (Temporal(0.5, 0.9), "validation begins at 1970-01-01T00:01:10 UTC .*: expected validation first"),
        (Temporal(AT_60, AT_40, gap="20s"), r"more than the gap \(20s\) between"),
        (Temporal(AT_60, "1970-01-01"), "leaves no user for the training"),
        (Temporal("1970-01-02", AT_40), "leaves no user for the test"),
        (Temporal("9999-01-01", AT_40), "leaves no user for the test"),
        (Temporal(AT_60, AT_40, warm_up=5), "leaves no user for the validation"),
    ],
)
def test_refusals(splitter: Temporal, message: str) -> None:
    with pytest.raises(InputError, match=message):
        splitter.stages(log_of(ROWS))


def test_recipes_that_cannot_be() -> None:
    with pytest.raises(InputError, match="targets 'last': expected one of first, all"):
        Temporal(targets="last")
    with pytest.raises(InputError, match="warm_up 0"):
        Temporal(warm_up=0)
    with pytest.raises(InputError, match="duration 'long'"):
        Temporal(gap="long")


def test_dates_need_a_log_that_has_them() -> None:
    with pytest.raises(InputError, match=r"unknown zero and validation .* needs dates"):
        Temporal(AT_60, AT_40).stages(log_of(ROWS, known_epoch=False))
    with pytest.raises(InputError, match="readings of a wall clock: leave the offset out"):
        Temporal("1970-01-01T00:01Z", AT_40).stages(log_of(ROWS, absolute=False))
