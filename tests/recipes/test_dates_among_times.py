"""Logs that hold dates among true times: no day is made up of them, and the reports say why."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from rota.analysis.resolution import midnight_share
from rota.analysis.rhythm import Rhythm
from rota.data.log import Log
from rota.data.reading import read_log
from rota.plots.routines_words import routines_facts
from rota.recipes.enough import Grid, grid_of
from rota.recipes.log_prior import prior_of_log
from rota.recipes.routines import routines_of_log
from rota.types import Float64Array, Int64Array

USERS, DAYS, ITEMS = 100, 120, 5
MONDAY, DAY, HOUR = 1_704_067_200, 86_400, 3600
Clock = Callable[[np.random.Generator], Float64Array]  # hours of the day of all events
Items = Callable[[Int64Array, Int64Array, Float64Array], Int64Array]  # of user, day and hour


def mixed(
    share: float,
    clock: tuple[float, float] | Clock,
    *,
    second: int = 1,
    apart: bool = True,
    items: Items | None = None,
    zone: str | None = None,
) -> Log:
    """An event a day of each user, on any day and of any item: no routine, unless items are given.

    Args:
        share: Of the events that are dates alone.
        clock: The hours between which all others are.
        second: Seconds that these are rounded to.
        apart: The dates have items of their own, as those of another source have.
        items: Of user, day and hour, instead of any.
        zone: Of the users; the times are instants then.
    """
    rng, size = np.random.default_rng(0), USERS * DAYS
    user, day = np.repeat(np.arange(USERS), DAYS), rng.integers(0, DAYS, size)
    hours = clock(rng) if callable(clock) else rng.uniform(*clock, size)
    dated = rng.random(size) < share
    item = rng.integers(0, ITEMS, size) if items is None else items(user, day, hours)
    of_day = np.where(dated, 0, np.floor(hours * HOUR / second).astype(np.int64) * second)
    table = {
        "user": user,
        "item": item + ITEMS * (dated & apart),
        "time": MONDAY + day * DAY + of_day % DAY,
    }
    return read_log(pa.table(table), user="user", item="item", time="time", unit="s", zone=zone)


def grid(log: Log) -> Grid:
    return grid_of(log.times, log.clock, log.unit)


def assert_dated(log: Log, share: float) -> None:
    assert grid(log).seconds == DAY
    assert grid(log).at_midnight == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("share", [0.15, 0.5, 0.9])
@pytest.mark.parametrize("hours", [(0.0, 24.0), (9.0, 17.0)])
def test_no_day_is_made_up_of_dates_among_times(share: float, hours: tuple[float, float]) -> None:
    log = mixed(share, hours)
    assert_dated(log, share)
    found = routines_of_log(log)
    assert found.verdict is Rhythm.NOTHING
    assert found.search.periods == ()
    assert found.search.shortest == 2 * DAY
    assert found.to_json()["log"]["resolution_seconds"] == DAY  # type: ignore[index]
    assert found.to_json()["log"]["share_at_midnight"] == pytest.approx(share, abs=0.02)  # type: ignore[index]
    said = dict(routines_facts(found))["looked for"]
    assert f"{found.at_midnight:.0%} of its times are midnight sharp, dates among true times" in said
    assert "nothing below 2 d can be seen: take the rows with true times alone" in said


def test_the_law_of_a_log_makes_up_no_day_either() -> None:
    law = prior_of_log(mixed(0.5, (9.0, 17.0))).law
    assert law.lift.width == DAY
    assert law.kernel.periodic == ()
    assert law.in_words.endswith("24h (50% of the times are dates alone), so that nothing below 2d is seen")
    assert law.facts()["share_at_midnight"] == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_week_is_found_in_dates_among_times(share: float) -> None:
    log = mixed(share, (9.0, 17.0), apart=False, items=lambda user, day, hour: (user + day) % 7)
    found = routines_of_log(log)
    assert [each.seconds for each in found.periods] == [7 * DAY]


def test_dates_of_one_zone_are_midnights_there() -> None:
    """Midnights of the users' clock are no midnights of UTC; and the other way round."""
    log = mixed(0.3, (9.0, 17.0), zone="America/New_York")
    assert_dated(log, 0.3)  # instants
    local = grid_of(log.times + 5 * HOUR, log.times, "s")
    assert local == grid(log)


def test_few_midnights_are_said_and_no_more() -> None:
    """A default for some times, or what is done at midnight: hours are looked at, and a reader is warned."""
    found = routines_of_log(mixed(0.05, (0.0, 24.0)))
    assert found.verdict is Rhythm.NOTHING
    assert (found.resolution, found.search.shortest) == (1, 2 * HOUR)
    mind = dict(routines_facts(found))["mind"]
    assert mind == (
        "5% of its times are midnight sharp: if they are dates without a time, leave these rows out, or a "
        "day may be made of them"
    )
    assert "mind" not in dict(routines_facts(routines_of_log(mixed(0.0, (0.0, 24.0)))))


def test_what_a_machine_does_at_midnight_hides_no_habit() -> None:
    by_hour = mixed(0.03, (0.0, 24.0), items=lambda user, day, hour: (user + hour // 5).astype(np.int64) % 5)
    found = routines_of_log(by_hour)
    assert [each.seconds for each in found.periods] == [DAY]
    assert "mind" in dict(routines_facts(found))


NO_DATES: dict[str, Callable[[], Log]] = {
    "true times": lambda: mixed(0.0, (0.0, 24.0)),
    "whole minutes": lambda: mixed(0.0, (0.0, 24.0), second=60),
    "quarters of an hour": lambda: mixed(0.0, (0.0, 24.0), second=900),
    "whole hours": lambda: mixed(0.0, (0.0, 24.0), second=HOUR),
    "whole hours about midnight": lambda: mixed(
        0.0, lambda rng: rng.normal(24.5, 1.5, USERS * DAYS), second=HOUR
    ),
    "half days": lambda: mixed(0.3, (0.0, 24.0), second=12 * HOUR),
    "dates alone": lambda: mixed(1.0, (0.0, 24.0)),
}


@pytest.mark.parametrize("name", NO_DATES)
def test_what_is_no_mix_is_left_as_it_was(name: str) -> None:
    found = grid(NO_DATES[name]())
    steps = {"whole minutes": 60, "quarters of an hour": 900, "half days": DAY / 2, "dates alone": DAY}
    assert found == Grid(steps.get(name, HOUR if name.startswith("whole hours") else 1))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_midnight_is_one_of_any_unit(unit: str) -> None:
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    log = mixed(0.3, (9.0, 17.0))
    assert midnight_share(log.times * ticks, unit) == midnight_share(log.times, "s")
    assert midnight_share(log.times * ticks + 1, unit) == 0
    assert midnight_share(log.times[:0], unit) == 0


def test_a_clock_of_unknown_zero_has_no_midnight() -> None:
    """Times since each user's first event: every user has one at 0, which is no date."""
    rng, users, days = np.random.default_rng(0), 200, 5
    hours = np.stack([np.arange(days) * 24 + rng.normal(0, 0.2, days) for _ in range(users)])
    times = np.concatenate([hours, hours + 9.1], 1) * HOUR
    table = {
        "user": np.repeat(np.arange(users), 2 * days),
        "item": np.tile(np.repeat([0, 1], days), users),
        "time": np.rint(times - times.min(1, keepdims=True)).astype(np.int64).ravel(),
    }
    how = {"user": "user", "item": "item", "time": "time", "unit": "s"}
    since = read_log(pa.table(table), **how, epoch="unknown")
    assert midnight_share(since.times, "s") >= 0.1
    found = routines_of_log(since)
    assert (found.at_midnight, found.resolution) == (0, 1)
    assert [each.seconds for each in found.periods] == [DAY]
    assert prior_of_log(since).law.kernel.periodic


def test_an_hourly_grid_is_not_blamed_on_dates() -> None:
    found = routines_of_log(mixed(0.04, (0.0, 24.0), second=HOUR), longest="7d")
    assert found.resolution == HOUR
    assert "a grid of 1 h, so nothing below 2 h can be seen" in dict(routines_facts(found))["looked for"]
