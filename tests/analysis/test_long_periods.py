"""Periods above a week: fortnights, paydays and shift cycles; and no part of them is made a period."""

from collections.abc import Callable
from datetime import date, timedelta

import numpy as np
import pytest
from lifts_made import DAY, HOUR

from rota.analysis.lift import Lift, measure_lift
from rota.analysis.period import Period
from rota.analysis.periods import search_periods
from rota.analysis.recency import find_recency
from rota.analysis.rhythm import Rhythm, judge_rhythm
from rota.types import Int64Array

USERS, DAYS, SEEDS = 200, 450, (0, 1)
MONDAY, FRIDAY, RANDOM = date(2024, 1, 1), 4, 8  # day 0; weekday; items that are taken at random
Days = Callable[[int], Int64Array]  # of a user: on which days he has an event


def paydays(day_of_month: int) -> Int64Array:
    """That day of each month, or the Friday before it if it is on a weekend."""
    found = []
    for month in range(DAYS // 28):
        day = date(2024 + month // 12, month % 12 + 1, day_of_month)
        found.append((day - timedelta(days=max(day.weekday() - FRIDAY, 0)) - MONDAY).days)
    return np.array([each for each in found if 0 <= each < DAYS])


def every_second_friday(user: int) -> Int64Array:
    """Half of the users in even weeks, half in odd ones."""
    return np.arange(FRIDAY + 7 * (user % 2), DAYS, 14)


def shift(length: int) -> Days:
    """On for half of the cycle and off for the other, each user from a day of his own on."""
    return lambda user: np.flatnonzero((np.arange(DAYS) + user) % length < length // 2)


def lived(*habits: tuple[Days, float, float], seed: int = 0, shuffled: bool = False) -> Lift:
    """Lift of people who take an item at random every few days, and have habits beside that.

    Args:
        habits: Days of each, the share of them that is kept, and by how many hours it varies about the hour
            that each user has; each has an item of its own.
        seed: Of all that is drawn.
        shuffled: Deal each user's items to his times at random.
    """
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(USERS), rng.poisson(0.2 * DAYS, USERS))
    parts = [(user, rng.integers(0, RANDOM, len(user)), rng.uniform(0, DAYS, len(user)) * DAY)]
    for item, (days_of, share, varies) in enumerate(habits, RANDOM):
        for each in range(USERS):
            days = days_of(each)
            days = days[rng.random(len(days)) < share]
            hours = rng.uniform(9, 20) + varies * rng.standard_normal(len(days))
            parts.append((np.full(len(days), each), np.full(len(days), item), days * DAY + hours * HOUR))
    users, items, times = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((times, users))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(users))]).astype(np.int64)
    items = items[np.lexsort((rng.random(len(users)), users)) if shuffled else order]
    whole = times[order].astype(np.int64)
    return measure_lift(offsets, whole, items, width="2h", longest="170d")


def told(lift: Lift) -> tuple[Rhythm, tuple[Period, ...], tuple[Period, ...]]:
    """The verdict, the periods that it is of, and faint ones."""
    found = search_periods(lift).periods
    return judge_rhythm(found, find_recency(lift, [each.seconds for each in found]))


def expect(lift: Lift, *days: float) -> None:
    """The verdict is of periods of so many days, the strongest first, and no other is seen."""
    verdict, periods, faint = told(lift)
    assert verdict is Rhythm.ROUTINE
    assert [each.seconds / DAY for each in periods] == [pytest.approx(each, rel=0.02) for each in days]
    assert faint == ()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fortnight_is_found_and_no_week(seed: int) -> None:
    expect(lived((every_second_friday, 0.9, 2.0), seed=seed), 14)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("own", [False, True])
def test_a_payday_is_found_though_months_are_uneven(own: bool, seed: int) -> None:
    """Of one day for all, and of a day that each user has; what is left of its wide peak is no period."""
    lift = lived((lambda user: paydays(1 + 5 * user % 28 if own else 25), 0.9, 2.0), seed=seed)
    expect(lift, 30.44)


def test_a_fortnight_beside_a_day_is_two_periods() -> None:
    daily: tuple[Days, float, float] = (lambda user: np.arange(DAYS), 0.3, 0.5)
    expect(lived(daily, (every_second_friday, 0.9, 2.0)), 1, 14)


def test_a_payday_beside_a_week_is_two_periods() -> None:
    weekly: tuple[Days, float, float] = (lambda user: np.arange(user % 7, DAYS, 7), 0.5, 4.0)
    expect(lived(weekly, (lambda user: paydays(25), 0.9, 4.0)), 7, 30.44)


@pytest.mark.parametrize("length", [8, 10, 14, 28])
def test_shifts_are_a_cycle_and_a_day(length: int) -> None:
    """The day goes ten times and more into a cycle that is found first, and is the sharper of the two."""
    expect(lived((shift(length), 0.9, 1.0)), 1, length)


def test_shifts_at_any_hour_are_a_cycle_alone() -> None:
    expect(lived((shift(10), 0.9, 9.0)), 10)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_times_with_items_dealt_at_random_have_no_period(seed: int) -> None:
    habits = (every_second_friday, 0.9, 2.0), (lambda user: paydays(25), 0.9, 2.0), (shift(8), 0.9, 1.0)
    verdict, periods, faint = told(lived(*habits, seed=seed, shuffled=True))
    assert (verdict, periods, faint) == (Rhythm.NOTHING, (), ())
