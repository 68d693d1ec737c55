"""Periods of logs that are short, or of people who are there for few hours of the day: none is made up."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from lifts_made import DAY, HOUR, WEEK

from rota.analysis.background import fit_background
from rota.analysis.combs import lay_combs
from rota.analysis.lift import Lift, measure_lift
from rota.analysis.narrowness import is_narrow
from rota.analysis.periods import LEAST, PeriodSearch, search_periods
from rota.analysis.recency import find_recency, recency_is_told

USERS, MORNING = 40, 1_704_067_200
Event = tuple[int, int, float]  # user, item, seconds from the first midnight


def lift_of(events: Sequence[Event]) -> Lift:
    """In quarters of an hour, as far as the events go: as `rota routines` counts it."""
    user, item, time = (np.array(column) for column in zip(*sorted(events), strict=True))
    times = MORNING + time.astype(np.int64)
    order = np.lexsort((times, user))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(user))]).astype(np.int64)
    longest = min(float(times.max() - times.min()), 225 * DAY + 900)
    return measure_lift(offsets, times[order], item[order], width=900, longest=longest)


def visits(hours: Sequence[float], days: Sequence[int], share: float = 0.9) -> list[Event]:
    """Each user, on each day, is at one place at each hour within a quarter or so."""
    rng = np.random.default_rng(0)
    return [
        (user, place, day * DAY + hour * HOUR + rng.normal(0, 900))
        for user in range(USERS)
        for day in days
        for place, hour in enumerate(hours)
        if rng.random() < share
    ]


def at_any_time(
    first: float, last: float, days: int, item: Callable[[np.random.Generator, int, float], int]
) -> list[Event]:
    """Two events a day at any time between two hours, of an item that depends on user and hour."""
    rng = np.random.default_rng(0)
    hours = rng.uniform(first, last, (USERS, days, 2))
    return [
        (user, item(rng, user, hour), day * DAY + hour * HOUR)
        for user in range(USERS)
        for day in range(days)
        for hour in hours[user, day].tolist()
    ]


def repeated(first: float, last: float, days: int, seed: int) -> list[Event]:
    """Three events a day between two hours; each is of the last one's item four times in five."""
    rng, events = np.random.default_rng(seed), []
    for user in range(60):
        item = 0
        for day in range(days):
            for hour in np.sort(rng.uniform(first, last, 3)).tolist():
                item = item if rng.random() < 0.8 else int(rng.integers(0, 12))
                events.append((user, item, day * DAY + hour * HOUR))
    return events


def hours(search: PeriodSearch) -> list[float]:
    return [round(each.seconds / HOUR, 2) for each in search.periods]


@pytest.mark.parametrize("days", [4, 5, 8, 10])
def test_a_day_is_a_day_where_the_log_ends_half_a_day_later(days: int) -> None:
    """From the first morning to the last evening: a shorter period has one multiple more in it."""
    search = search_periods(lift_of(visits((8, 13, 18), range(days))))
    assert hours(search) == [24.0]
    (day,) = search.periods
    assert day.shortest <= DAY <= day.longest
    assert day.lo > 1


def test_a_week_is_a_week_where_the_log_ends_half_a_week_later() -> None:
    rng = np.random.default_rng(0)
    events = [
        (user, day, (7 * week + day) * DAY + 9 * HOUR + rng.normal(0, 3 * HOUR))
        for user in range(USERS)
        for week in range(5)
        for day in range(5)
        if rng.random() < 0.9
    ]
    assert hours(search_periods(lift_of(events))) == [168.0]


def test_what_is_longer_than_the_log_can_show_is_no_shorter_period() -> None:
    """Two days and a half hold 2.4 days: a period up to 23 h could be told, which a day is not."""
    search = search_periods(lift_of(visits((8, 13, 18), range(3))))
    assert search.longest < DAY
    assert search.periods == ()
    assert search.untold is not None
    assert 18 * HOUR < search.untold <= search.longest
    assert search_periods(lift_of(visits((8, 13, 18), range(6)))).untold is None


@pytest.mark.parametrize("days", [6, 20])
@pytest.mark.parametrize("at", [(9, 12), (9, 11, 13), (9, 10)])
def test_a_day_is_found_where_nobody_is_there_in_the_afternoon(at: tuple[float, ...], days: int) -> None:
    lift = lift_of(visits(at, range(days)))
    assert is_narrow(fit_background(lift))
    search = search_periods(lift)
    assert hours(search) == [24.0]
    (day,) = search.periods
    assert day.shortest <= DAY <= day.longest
    assert all(np.isfinite([day.strength, day.lo, day.hi]))


@pytest.mark.parametrize(
    ("first", "last", "days", "every"),
    [(18, 24, 30, 1.0), (11, 14, 10, 0.5), (11, 14, 30, 0.5), (10, 17, 10, 1.0), (9, 17, 10, 1.0)],
)
def test_a_habit_by_the_hour_is_a_day(first: float, last: float, days: int, every: float) -> None:
    """Television in the evening, a canteen at noon."""
    events = at_any_time(first, last, days, lambda _, user, hour: (user + int((hour - first) / every)) % 9)
    assert hours(search_periods(lift_of(events))) == [24.0]


@pytest.mark.parametrize("days", [10, 30])
@pytest.mark.parametrize(("first", "last"), [(11, 14), (18, 24), (9, 10)])
def test_no_period_is_made_up_of_few_hours(first: float, last: float, days: int) -> None:
    """Items by chance; and items that linger, so that what comes a little under a day later is likelier."""
    aimless = at_any_time(first, last, days, lambda rng, _, __: int(rng.integers(0, 6)))
    assert hours(search_periods(lift_of(aimless))) == []
    assert hours(search_periods(lift_of(repeated(first, last, 2 * days, seed=days)))) == []


@pytest.mark.parametrize("seed", [0, 3])
def test_an_hour_of_the_day_in_which_all_are_there_is_no_period(seed: int) -> None:
    """A comb beside a day drifts out of the hour after three teeth, all of which come before whole days."""
    assert hours(search_periods(lift_of(repeated(9, 10, 60, seed)))) == []


@pytest.mark.parametrize("hour", ["uniform", "normal"])
def test_recency_from_event_to_event_within_office_hours_is_no_period(hour: str) -> None:
    """It leaves a slope in the pairs about each whole day, the surer the more there are: no 23 h."""
    rng, events = np.random.default_rng(0), []
    for user in range(200):
        item = 0
        for day in (day for day in range(60) if day % 7 < 5):
            many = rng.poisson(3)
            for at in np.sort(rng.uniform(9, 17, many) if hour == "uniform" else rng.normal(13, 2, many)):
                item = item if rng.random() < 0.85 else int(rng.integers(0, 12))
                events.append((user, item, day * DAY + at * HOUR))
    assert hours(search_periods(lift_of(events))) == []


def test_a_habit_of_office_hours_is_a_day() -> None:
    events = at_any_time(9, 17, 40, lambda _, user, hour: (user + int(hour)) % 9)
    assert hours(search_periods(lift_of(events))) == [24.0]


def test_a_day_without_pairs_between_cannot_be_told() -> None:
    """One visit a day at nine: every lag is of whole days, and nothing is there to compare them with."""
    rng = np.random.default_rng(0)
    once = [(user, int(rng.integers(0, 3)), time) for user, _, time in visits((9,), range(40))]
    search = search_periods(lift_of(once))
    assert search.periods == ()
    assert search.blind == (DAY,)
    assert set(search.least) == {WEEK}
    by_weekday = [(user, (user + int(time // DAY)) % 7, time) for user, _, time in once]
    assert hours(search_periods(lift_of(by_weekday))) == [168.0]
    assert search_periods(lift_of(visits((8, 13, 18), range(20)))).blind == ()


def test_a_comb_that_leaves_the_hours_is_not_judged() -> None:
    narrow = fit_background(lift_of(visits((9, 12), range(20))))
    periods = np.array([DAY, 23.0 * HOUR, 36 * HOUR, 3 * DAY, WEEK])
    judged = lay_combs(narrow, periods, periods / 24).judged.tolist()
    assert judged == [True, False, False, True, True]
    wide = fit_background(lift_of(visits((0, 6, 12, 18), range(20))))
    assert not is_narrow(wide)
    assert lay_combs(wide, periods, periods / 24).judged.all()


def test_what_is_said_to_be_seen_would_be_reported() -> None:
    rng = np.random.default_rng(0)
    many = [
        (user, int(rng.integers(0, 4)), float(at))
        for user in range(200)
        for at in rng.integers(0, 40 * DAY, 150)
    ]
    least = search_periods(lift_of(many)).least
    assert set(least) == {DAY, WEEK}
    assert min(least.values()) >= LEAST


def test_recency_is_told_by_pairs_near_and_far() -> None:
    twice = [(user, user % 2, (user % 2) + day * DAY) for user in range(USERS) for day in (0, 40)]
    lift = lift_of(twice)
    assert not recency_is_told(lift)
    assert find_recency(lift) is None
    assert recency_is_told(lift_of(visits((8, 13, 18), range(6))))
