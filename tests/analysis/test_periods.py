"""Periods: found where they are, not where they are not, once each, and with the strength that they have."""

from collections.abc import Callable

import numpy as np
import pytest
from lifts_made import DAY, HOUR, WEEK, lift_like, peaks

from rota.analysis.background import fit_background
from rota.analysis.combs import lay_combs
from rota.analysis.lift import Lift
from rota.analysis.period import Period
from rota.analysis.periods import find_periods, period_range, search_periods
from rota.errors import InputError
from rota.types import Float64Array

Profile = Callable[[Float64Array], Float64Array]


def hours(found: tuple[Period, ...]) -> list[float]:
    return [round(each.seconds / HOUR, 2) for each in found]


def of(lift: Lift, **options: float) -> tuple[Period, ...]:
    return find_periods(lift, shortest=options.pop("shortest", 6 * HOUR), **options)


def returning(period: float, half: float, strength: float = 1.0, base: float = 0.8) -> Profile:
    return lambda lags: base + strength * peaks(lags, period, half)


@pytest.mark.parametrize(
    ("period", "half"),
    [(24.0, 2.0), (24.0, 0.5), (12.0, 1.0), (36.0, 2.0), (31.7, 2.0), (168.0, 12.0), (72.0, 3.0), (8.0, 1.0)],
)
def test_a_period_is_found_whatever_it_is(period: float, half: float) -> None:
    """And no harmonic of it, no multiple, nothing else."""
    found = of(lift_like(returning(period * HOUR, half * HOUR), users_differ=0.7))
    assert len(found) == 1
    assert found[0].seconds == pytest.approx(period * HOUR, rel=0.01)
    assert found[0].shortest <= found[0].seconds <= found[0].longest
    assert found[0].z > found[0].critical > 3


def test_what_cannot_be_told_apart_is_given_round() -> None:
    assert hours(of(lift_like(returning(24.04 * HOUR, 2 * HOUR)))) == [24.0]
    assert hours(of(lift_like(returning(36 * HOUR, 2 * HOUR)))) == [36.0]


def test_a_wave_is_a_period_too() -> None:
    assert hours(of(lift_like(lambda lags: 1 + 0.4 * np.cos(2 * np.pi * lags / DAY)))) == [24.0]


def test_a_week_beside_a_day_is_what_it_has_beyond() -> None:
    def both(lags: Float64Array) -> Float64Array:
        return np.asarray(0.8 + peaks(lags, DAY, HOUR) + 0.6 * peaks(lags, WEEK, HOUR))

    found = find_periods(lift_like(both, longest=60 * DAY), shortest=6 * HOUR)
    assert hours(found) == [24.0, 168.0]
    day, week = found
    assert day.strength == pytest.approx(1.08, abs=0.05)
    assert 0.1 < week.lo < week.strength < 0.6  # over teeth wider than the peak
    assert hours(find_periods(lift_like(returning(DAY, HOUR), longest=60 * DAY), shortest=6 * HOUR)) == [24.0]


def test_shifts_beside_a_day_share_every_other_peak_with_it() -> None:
    def both(lags: Float64Array) -> Float64Array:
        return np.asarray(0.8 + peaks(lags, DAY, HOUR) + 0.5 * peaks(lags, 36 * HOUR, HOUR))

    assert hours(of(lift_like(both))) == [24.0, 36.0]


def test_a_period_may_fade_and_still_be_one() -> None:
    def fading(lags: Float64Array) -> Float64Array:
        return np.asarray(0.8 + 2 * np.exp(-lags / (6 * DAY)) * peaks(lags, DAY, HOUR))

    assert hours(of(lift_like(fading))) == [24.0]


NO_PERIOD: dict[str, Profile] = {
    "chance": lambda lags: np.ones_like(lags),
    "recency": lambda lags: 1 + 3 * np.exp(-lags / (5 * HOUR)) + np.exp(-lags / (5 * DAY)),
    "avoided at first": lambda lags: 1 - np.exp(-lags / (3 * HOUR)),
    "returns once after 21 h": lambda lags: 1 + 3 * np.exp(-(((lags / HOUR - 21) / 0.7) ** 2)),
    "a step": lambda lags: np.where(lags < 3 * DAY, 1.5, 1.0),
    # what recency by the number of events is, where people have busy hours: lowest at whole days
    "lowest at whole days": lambda lags: (
        1.2 + (0.5 + 0.1 * np.cos(4 * np.pi * lags / DAY) - 0.3 * np.cos(2 * np.pi * lags / DAY))
        * np.exp(-lags / (3 * DAY))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_PERIOD)
def test_no_period_is_found_where_there_is_none(name: str) -> None:
    for seed in range(3):
        assert hours(of(lift_like(NO_PERIOD[name], seed=seed, users_differ=0.7))) == []


@pytest.mark.parametrize(
    ("first", "second", "wide", "high"),
    [(135.4, 7.4, 16.7, 2.8), (245.3, 30.5, 13.3, 2.3), (69.1, 275.8, 9.7, 4.7), (185.8, 124.4, 14.9, 4.8)],
)
def test_two_bumps_are_no_period(first: float, second: float, wide: float, high: float) -> None:
    """Beside them a fitted trend dips, and what does not dip with it seems to rise."""

    def bumps(lags: Float64Array) -> Float64Array:
        away = [np.exp(-(((lags / HOUR - at) / wide) ** 2)) for at in (first, second)]
        return np.asarray(1 + high * (away[0] + away[1]))

    assert hours(of(lift_like(bumps, longest=40 * DAY, users_differ=0.5))) == []


def test_a_multiple_that_more_pairs_show_is_not_the_period() -> None:
    """There are far more pairs at long lags, so that twice the period explains more than the period."""
    for seed in range(2):
        lift = lift_like(
            returning(12 * HOUR, HOUR), seed=seed, awake=lambda lags: 0.01 + (lags / lags[-1]) ** 2
        )
        assert hours(of(lift)) == [12.0]


def test_busy_hours_are_no_routine() -> None:
    """Few pairs half a day apart, as in office hours: it is how many there are, not how many are the same."""
    lift = lift_like(
        NO_PERIOD["recency"], awake=lambda lags: 0.02 + np.cos(np.pi * lags / DAY) ** 4, users_differ=0.7
    )
    assert hours(of(lift)) == []
    daily = lift_like(
        returning(DAY, HOUR), awake=lambda lags: 0.02 + np.cos(np.pi * lags / DAY) ** 4, users_differ=0.7
    )
    assert hours(of(daily)) == [24.0]


@pytest.mark.slow
def test_chance_is_taken_for_a_period_as_seldom_as_it_says() -> None:
    """At a level of one in five, so that forty lifts tell; the rules beside the level make it rarer still."""
    false = [
        len(of(lift_like(NO_PERIOD["chance"], seed=seed, groups=30, pairs=3, users_differ=1.0), level=0.2))
        for seed in range(40)
    ]
    assert np.mean(np.array(false) > 0) <= 0.3


def test_one_busy_user_is_no_routine_of_all() -> None:
    lift = lift_like(NO_PERIOD["chance"], groups=40)
    same = lift.same.copy()
    same[0] += (50 * lift.expected[0] * peaks(lift.lags, DAY, HOUR)).astype(np.int64)
    alone = Lift(lift.lags, lift.width, same, lift.pairs, lift.expected, 40, lift.num_pairs, 1.0)
    assert lift_contrast(alone) > 0.5
    assert hours(of(alone)) == []


def lift_contrast(lift: Lift) -> float:
    day = np.array([DAY])
    return float(lay_combs(fit_background(lift), day, day / 24).mean()[0].sum())


@pytest.mark.slow
def test_a_strength_is_measured_with_its_interval() -> None:
    """A box as wide as the teeth, so that the truth is its height."""

    def boxes(lags: Float64Array) -> Float64Array:
        away = np.abs(lags / DAY - np.rint(lags / DAY)) * DAY
        return np.where((away <= HOUR) & (lags > DAY / 2), 1.7, 0.9)

    inside = []
    for seed in range(8):
        found = of(lift_like(boxes, seed=seed, users_differ=0.8))
        assert hours(found) == [24.0]
        assert found[0].strength == pytest.approx(0.8, abs=0.08)
        inside.append(found[0].lo <= 0.8 <= found[0].hi)
    assert np.mean(inside) >= 0.75


def test_the_same_seed_finds_the_same() -> None:
    lift = lift_like(returning(DAY, HOUR), users_differ=0.7)
    assert of(lift, seed=3) == of(lift, seed=3)


def test_what_is_fitted_and_what_is_left_are_the_lift() -> None:
    lift = lift_like(returning(DAY, HOUR), users_differ=0.7)
    fit = fit_background(lift, [DAY])
    assert np.abs(fit.left.sum(axis=0)).max() < 6 * np.sqrt(lift.same.sum(axis=0).max())
    peak, trough = fit.periodic[23::24], fit.periodic[11::24]
    assert np.all(peak > 0.6)
    assert np.all(trough < 0)
    assert np.abs(lift_contrast_of(fit)) < 0.02
    assert np.abs(fit.periodic.reshape(-1, 24).mean(axis=1)).max() < 0.05  # zero on average over a cycle
    beyond = lift.same.sum(axis=0) - fit.expected * (fit.trend + fit.periodic)
    np.testing.assert_allclose(fit.left.sum(axis=0), beyond, atol=1e-4 * lift.same.sum(axis=0).max())


def lift_contrast_of(fit: object) -> float:
    day = np.array([DAY])
    return float(lay_combs(fit, day, day / 24).mean()[0].sum())  # type: ignore[arg-type]


def test_a_contrast_is_a_tooth_above_its_gaps() -> None:
    """Against sums written out, on a lift without noise."""
    lift = lift_like(lambda lags: 1 + 0.3 * np.sin(lags / 7000), longest=10 * DAY)
    fit = fit_background(lift, trend=False)
    combs = lay_combs(fit, np.array([DAY]), np.array([2 * HOUR]), multiples=3)
    left, expected = fit.left, fit.expected

    def mean(low: int, high: int) -> Float64Array:
        return np.asarray(left[:, low - 1 : high].sum(1) / expected[low - 1 : high].sum())

    for k in (1, 2, 3):
        sides = mean(24 * k - 18, 24 * k - 6) + mean(24 * k + 6, 24 * k + 18)
        np.testing.assert_allclose(
            combs.contrasts[0, k - 1], mean(24 * k - 2, 24 * k + 2) - sides / 2, atol=1e-12
        )
    assert combs.weights[0, 0] == pytest.approx(1 / (1 / expected[:5].sum() + 0.5 / expected[:13].sum()))


def test_teeth_beyond_the_lift_weigh_nothing() -> None:
    fit = fit_background(lift_like(NO_PERIOD["chance"], longest=5 * DAY))
    combs = lay_combs(fit, np.array([DAY, 2 * DAY]), np.array([HOUR, HOUR]))
    assert (combs.weights > 0).sum(axis=1).tolist() == [4, 2]  # the last gap of each is cut


def test_what_can_be_seen_is_said() -> None:
    assert period_range(30 * DAY, HOUR) == (2 * HOUR, 12 * DAY)
    assert period_range(500 * DAY, DAY) == (2 * DAY, 90 * DAY)
    search = search_periods(lift_like(NO_PERIOD["chance"]), shortest=6 * HOUR)
    assert (search.shortest, search.longest) == (6 * HOUR, 12 * DAY)
    assert list(search.least) == [DAY, WEEK]
    assert 0 < search.least[WEEK] < 0.3


@pytest.mark.parametrize(("longest", "width"), [(DAY, 12 * HOUR), (4 * HOUR, HOUR)])
def test_a_lift_too_short_is_refused(longest: float, width: float) -> None:
    with pytest.raises(InputError, match=r"2\.5 cycles"):
        find_periods(lift_like(NO_PERIOD["chance"], longest=longest, width=width))


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    search_periods(
        lift_like(NO_PERIOD["chance"]),
        shortest=2 * DAY,
        report=lambda done, total: told.append((done, total)),
    )
    assert told[0] == (0, 5)
    assert told[-1] == (5, 5)
