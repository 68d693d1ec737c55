"""What each kind of people does is what its recipe says, measured in the log alone."""

from dataclasses import replace

import numpy as np
import pytest
from worlds_made import concentration, lift, made, pairs

from rota.data.worlds import (
    DailyPeople,
    DayBeforePeople,
    RepeatingPeople,
    ShiftWorkers,
    WeeklyPeople,
    World,
    preset_world,
)
from rota.types import Int64Array

HOUR, DAY, WEEK = 3600, 86_400, 604_800
PARIS = ("Europe/Paris",)
SUMMER = 1_711_846_800  # 2024-03-31 01:00 UTC, when Paris goes from +1 to +2
BASE = World(users=80, events=8_000, items=2_000, span="180d", zones=PARIS)


def strict(kind: object, **changes: object) -> World:
    return replace(BASE, kinds=(kind,), **changes)  # type: ignore[arg-type]


def habits_of(rows: dict[str, Int64Array]) -> list[Int64Array]:
    """Rows of each habit that was kept twenty times or more."""
    routine = np.flatnonzero(rows["routine"] >= 0)
    key = rows["user"][routine] * 1000 + rows["routine"][routine]
    return [
        routine[key == one]
        for one, count in zip(*np.unique(key, return_counts=True), strict=True)
        if count >= 20
    ]


def spread(seconds: Int64Array, period: int) -> float:
    """Circular standard deviation, by the mean vector's length (a wrapped normal's)."""
    return float(np.sqrt(-2 * np.log(concentration(seconds, period))) * period / (2 * np.pi))


def paris(time: Int64Array) -> Int64Array:
    """Paris's wall clock in the first half of 2024, by its two offsets."""
    return time + np.where(time < SUMMER, HOUR, 2 * HOUR)


@pytest.mark.parametrize(
    ("kind", "period"), [(DailyPeople(strength=1.0), DAY), (WeeklyPeople(strength=1.0), WEEK)]
)
def test_habits_are_on_the_local_clock(kind: DailyPeople | WeeklyPeople, period: int) -> None:
    rows = made(strict(kind, spread=0.0))
    found = (
        habits_of(rows)
        if period == DAY
        else [
            np.flatnonzero((rows["user"] == user) & (rows["routine"] == habit))
            for user in range(40)
            for habit in range(6)
        ]
    )
    local = [spread(paris(rows["time"][habit]), period) for habit in found]
    assert len(local) > 50
    # Of n events about their own mean: the mean of squares falls short by the factor 1 - 1 / n.
    mean_square = np.mean(
        [
            square * len(habit) / (len(habit) - 1)
            for square, habit in zip(np.square(local), found, strict=True)
        ]
    )
    assert np.sqrt(mean_square) == pytest.approx(1800, rel=0.05)
    before = [habit[rows["time"][habit] < SUMMER] for habit in found]
    after = [habit[rows["time"][habit] >= SUMMER] for habit in found]
    moves = [
        (rows["time"][late] % period).mean() - (rows["time"][early] % period).mean()
        for early, late in zip(before, after, strict=True)
        if len(early) > 5 and len(late) > 5
    ]
    assert np.median(moves) == pytest.approx(-HOUR, abs=300)  # in UTC an hour earlier; on the wall nothing
    usual = (rows["routine"] >= 0) & (rows["due"] // DAY != SUMMER // DAY)  # a day that lacks an hour
    due, key = rows["due"][usual], rows["user"][usual] * 1000 + rows["routine"][usual]
    places = np.unique(np.stack([key, paris(due) % period]), axis=1)
    assert len(places.T) == len(np.unique(key))  # to the second, before and after


def test_shift_workers_go_by_their_period_and_not_by_the_day() -> None:
    rows = made(strict(ShiftWorkers(period="31h", strength=1.0)))
    found = habits_of(rows)
    assert len(found) > 50
    assert np.mean([concentration(rows["time"][habit], 31 * HOUR) for habit in found]) > 0.98
    for other in (24 * HOUR, 30 * HOUR, 32 * HOUR, WEEK):
        assert np.mean([concentration(rows["time"][habit], other) for habit in found]) < 0.35
    places = {(int(due) % (31 * HOUR)) for due in rows["due"][found[0]]}
    assert len(places) == 1  # summer time does not move them
    seen = pairs(rows, 100 * HOUR)
    assert lift(seen, 31 * HOUR, HOUR) > 2
    assert lift(seen, 62 * HOUR, HOUR) > 2
    assert lift(seen, 24 * HOUR, HOUR) < 0.2


def test_an_occasion_is_taken_once() -> None:
    world = strict(DailyPeople(slots=2, strength=1.0), users=20, events=20 * 400, spread=0.0, span="100d")
    rows = made(world)
    routine = rows["routine"] >= 0
    assert routine.sum() == 20 * 200  # every occasion; the rest wanders
    taken = np.stack([rows[name][routine] for name in ("user", "routine", "due")])
    assert len(np.unique(taken, axis=1).T) == len(taken.T)


def test_strength_is_the_share_of_routine() -> None:
    for strength in (0.0, 0.3, 0.8):
        rows = made(strict(DailyPeople(strength=strength), spread=0.3))
        assert (rows["routine"] >= 0).mean() == pytest.approx(strength, abs=0.02)


def test_the_items_of_a_persons_slots_differ() -> None:
    rows = made(strict(DailyPeople(slots=5, strength=1.0), items=40, popularity=2.0))
    for user in range(80):
        own = (rows["user"] == user) & (rows["routine"] >= 0)
        assert len(np.unique(rows["item"][own])) == len(np.unique(rows["routine"][own]))


def test_the_day_before_is_directed() -> None:
    rows = made(strict(DayBeforePeople(ahead="4h", strength=1.0), popularity=0.0))
    again = rows["follows"] >= 0
    assert again.mean() > 0.45
    lag = rows["time"][again] - rows["time"][rows["follows"][again]]
    quiet = np.abs(lag - 20 * HOUR) <= HOUR + 6 * 1800 * 2**0.5  # summer time moves one day's by an hour
    assert quiet.all()
    assert lag.std() == pytest.approx(1800 * 2**0.5, rel=0.05)
    seen = pairs(rows, 3 * DAY)
    assert lift(seen, 20 * HOUR, HOUR) > 20
    for other in (4, 24, 28, 40, 44, 52):
        assert lift(seen, other * HOUR, HOUR) < 2, other


def test_drift_ends_habits() -> None:
    """Of one slot's events a lag apart, as many are still one habit as exponential lives leave."""
    rows = made(strict(DailyPeople(slots=1, strength=1.0), drift="40d", users=300, events=30_000, spread=0.0))
    routine = rows["routine"] >= 0
    assert rows["routine"].max() >= 5
    own = {name: rows[name][routine] for name in rows}
    for days in (10, 40, 80):
        seen = pairs({**own, "item": own["routine"]}, (days + 1) * DAY)
        near = seen["lag"] > (days - 1) * DAY
        assert seen["same"][near].mean() == pytest.approx(np.exp(-days / 40), abs=0.04)


def test_repetition_knows_no_clock() -> None:
    world = strict(RepeatingPeople(strength=0.6, memory=3), popularity=0.0, items=20_000)
    rows = made(world)
    again = rows["follows"] >= 0
    assert again.mean() == pytest.approx(0.6, abs=0.03)
    back = rows["event"][again] - rows["follows"][again]
    assert back.mean() == pytest.approx(3, rel=0.05)
    assert (back == 1).mean() == pytest.approx(1 / 3, abs=0.03)
    counts = np.bincount(rows["user"])
    assert counts.min() > 5
    seen = pairs(rows, 4 * DAY)
    by_day = [lift(seen, hours * HOUR, 6 * HOUR) for hours in (6, 24, 42, 60, 78)]
    assert np.all(np.diff(by_day) < 0.05 * by_day[0])  # it falls, and no lag stands out


@pytest.mark.parametrize("hours", ["flat", "evening", "office"])
def test_without_a_routine_no_lag_stands_out(hours: str) -> None:
    aimless = preset_world("aimless").kinds
    rows = made(replace(BASE, kinds=aimless, hours=hours, items=20, events=16_000, popularity=0.0))
    assert np.all(rows["routine"] == -1)
    assert np.all(rows["follows"] == -1)
    seen = pairs(rows, 8 * DAY)
    for lag in (2, 6, 12, 18, 24, 36, 48, 72, 96, 168):
        expected = seen["chance"][np.abs(seen["lag"] - lag * HOUR) <= 2 * HOUR].sum()
        # Items are alike, so that pairs are independent of each other two by two.
        assert abs(lift(seen, lag * HOUR, 2 * HOUR) - 1) < 4 / np.sqrt(expected), lag


def test_hours_are_kept_by_everybody() -> None:
    aimless = preset_world("aimless").kinds
    evening = made(replace(BASE, kinds=aimless, hours="evening", span="60d"))
    hour = (evening["time"] + HOUR) // HOUR % 24
    counts = np.bincount(hour, minlength=24)
    assert counts.argmax() in (19, 20)
    assert counts.argmin() in (7, 8)
    office = made(replace(BASE, kinds=aimless, hours="office", span="60d"))
    local = office["time"] + HOUR
    weekday, hour = (local // DAY + 3) % 7, local // HOUR % 24
    working = (weekday < 5) & (hour >= 9) & (hour < 17)
    assert working.mean() == pytest.approx(40 * 1.03 / (40 * 1.03 + 128 * 0.03), abs=0.02)
    flat = made(replace(BASE, kinds=aimless, hours="flat", span="70d"))
    assert concentration(flat["time"], DAY) < 0.03
    assert concentration(flat["time"], WEEK) < 0.03
