"""The verdict and what it rests on: recency, resolution, widths of peaks, and the words for it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from lifts_made import DAY, HOUR, WEEK, lift_like, peaks

from rota.analysis.lift import Lift
from rota.analysis.peaks import peak_half_width
from rota.analysis.period import Period
from rota.analysis.periods import PeriodSearch, search_periods
from rota.analysis.recency import Recency, find_recency, octaves_of
from rota.analysis.resolution import time_resolution
from rota.analysis.rhythm import Rhythm, judge_rhythm
from rota.analysis.routines import Routines
from rota.errors import InputError
from rota.kernels.expression import parse_kernel


def decaying(half_life: float, strength: float = 2.0) -> Lift:
    def profile(lags: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return np.asarray(1 + strength * 0.5 ** (lags / half_life))

    return lift_like(profile, longest=60 * DAY, users_differ=0.5)


@pytest.mark.parametrize("half_life", [12 * HOUR, 5 * DAY])
def test_recency_has_a_strength_and_a_half_life(half_life: float) -> None:
    found = find_recency(decaying(half_life))
    assert found is not None
    assert found.lo < found.strength < found.hi
    assert found.strength == pytest.approx(2.0, rel=0.15)
    assert found.half_life == pytest.approx(half_life, rel=0.35)
    assert found.half_life_lo < found.half_life < found.half_life_hi


def test_a_period_is_no_recency() -> None:
    daily = lift_like(lambda lags: 0.9 + peaks(lags, DAY, HOUR), longest=60 * DAY, users_differ=0.5)
    assert find_recency(daily, [DAY]) is None


def test_recency_beside_a_period_is_seen_for_itself() -> None:
    both = lift_like(
        lambda lags: 0.9 + peaks(lags, DAY, HOUR) + 0.5 * 0.5 ** (lags / (5 * DAY)), longest=60 * DAY
    )
    found = find_recency(both, [DAY])
    assert found is not None
    assert found.strength == pytest.approx(0.5, abs=0.12)
    assert found.half_life == pytest.approx(5 * DAY, rel=0.5)


@pytest.mark.parametrize("seed", range(6))
def test_no_recency_is_found_where_there_is_none(seed: int) -> None:
    assert find_recency(lift_like(lambda lags: np.ones_like(lags), seed=seed, users_differ=1.0)) is None
    rising = lift_like(lambda lags: 1 - np.exp(-lags / (5 * HOUR)), seed=seed, users_differ=1.0)
    assert find_recency(rising) is None


def test_octaves_are_means_over_octaves() -> None:
    lift = decaying(DAY)
    octaves = octaves_of(lift)
    for k, each in enumerate(octaves):
        inside = slice(2**k - 1, min(2 ** (k + 1) - 1, len(lift.lags)))
        assert each.shortest == lift.lags[inside][0] - HOUR / 2
        assert each.longest == lift.lags[inside][-1] + HOUR / 2
        assert each.lift == pytest.approx(lift.same[:, inside].sum() / lift.expected[:, inside].sum())
        assert each.lo <= each.lift <= each.hi


@pytest.mark.parametrize(
    ("grid", "offset", "seconds"),
    [(DAY, 0, DAY), (DAY, 18_000, DAY), (HOUR, 0, HOUR), (60, 30, 60), (1, 0, 1)],
)
def test_the_grid_of_times_is_seen(grid: float, offset: int, seconds: float) -> None:
    times = np.random.default_rng(0).integers(0, 10**5, 5000) * int(grid) + offset
    assert time_resolution(times, "s") == seconds
    assert time_resolution(times * 1000, "ms") == seconds
    few = times.copy()
    few[:40] += 17 if grid > 1 else 0  # under one in a hundred
    assert time_resolution(few, "s") == seconds


def test_finer_than_a_second_is_a_tick() -> None:
    assert time_resolution(np.random.default_rng(0).integers(0, 10**9, 5000), "ms") == 0.001


@pytest.mark.parametrize("half", [0.5, 2.0, 4.0])
def test_half_of_a_peak_is_where_it_is_half_as_high(half: float) -> None:
    lift = lift_like(
        lambda lags: 0.7 + np.exp(-0.5 * (((lags - DAY) / HOUR) / (half / 1.1774)) ** 2),
        width=300, longest=2.25 * DAY, pairs=200.0,
    )  # fmt: skip
    assert peak_half_width(lift, DAY) == pytest.approx(half * HOUR, rel=0.15)


def period(seconds: float, strength: float, lo: float | None = None) -> Period:
    low = strength * 0.9 if lo is None else lo
    return Period(seconds, seconds, seconds, strength, low, strength * 1.1, HOUR, 9.0, 4.0)


RECENT = Recency(0.5, 0.4, 0.6, HOUR, DAY, HOUR, 2 * DAY)


@pytest.mark.parametrize(
    ("found", "recency", "verdict", "counted"),
    [
        ([period(DAY, 1.0), period(WEEK, 0.2)], None, Rhythm.ROUTINE, 2),
        ([period(DAY, 1.0), period(WEEK, 0.12)], RECENT, Rhythm.ROUTINE, 1),
        ([period(DAY, 0.06, 0.03)], RECENT, Rhythm.RECENCY, 0),
        ([period(DAY, 0.06, 0.03)], None, Rhythm.NOTHING, 0),
        ([], RECENT, Rhythm.RECENCY, 0),
        ([], None, Rhythm.NOTHING, 0),
    ],
)
def test_a_verdict_needs_strength(
    found: list[Period], recency: Recency | None, verdict: Rhythm, counted: int
) -> None:
    told, periods, faint = judge_rhythm(found, recency)
    assert told is verdict
    doubted = judge_rhythm(found, recency, told=False)[0]
    assert doubted is (Rhythm.UNKNOWN if verdict is Rhythm.NOTHING else verdict)
    assert list(periods) == found[:counted]
    assert list(faint) == found[counted:]


def routines(verdict: Rhythm, periods: tuple[Period, ...], recency: Recency | None) -> Routines:
    lift = decaying(DAY)
    search = PeriodSearch(periods, 2 * HOUR, 24 * DAY, {DAY: 0.1})
    return Routines(
        "log", "item", "local", 100, 3, 60 * DAY, 1.0, verdict, search, periods, (), (HOUR,) * len(periods),
        recency, octaves_of(lift), lift, lift,
    )  # fmt: skip


def test_a_prior_by_hand_is_an_expression() -> None:
    one = routines(Rhythm.ROUTINE, (period(DAY, 1.5),), None)
    assert one.prior == "wrapped_gaussian(24h, 0.85h)"
    two = routines(Rhythm.ROUTINE, (period(DAY, 1.5), period(WEEK, 0.5)), None)
    assert two.prior == "wrapped_gaussian(24h, 0.85h) * 0.75 + wrapped_gaussian(7d, 0.85h) * 0.25"
    for each in (one, two):
        assert each.prior is not None
        assert parse_kernel(each.prior)(0.0) == pytest.approx(1)
        assert each.prior in each.use
    assert routines(Rhythm.NOTHING, (), None).prior is None


def test_figures_are_plain_json() -> None:
    for found in (
        routines(Rhythm.ROUTINE, (period(DAY, 1.5),), RECENT),
        routines(Rhythm.RECENCY, (), RECENT),
        routines(Rhythm.NOTHING, (), None),
    ):
        table = json.loads(json.dumps(found.to_json(), allow_nan=False))
        assert table["verdict"] == found.verdict
        assert table["use"] == found.use
        assert (table["recency"] is None) == (found.recency is None)
        assert [each["period_hours"] for each in table["periods"]] == [24.0] * len(found.periods)
        assert table["log"]["left_out"] == 3
    assert set(table["looked_for"]) == {
        "shortest_hours", "longest_hours", "least_strength", "no_pairs_to_tell", "untold_hours",
    }  # fmt: skip


def test_each_verdict_says_what_to_use() -> None:
    assert "ClockRoPE beside RoPE" in routines(Rhythm.ROUTINE, (period(DAY, 1.5),), RECENT).use
    assert "no hour" in routines(Rhythm.RECENCY, (), RECENT).use
    nothing = routines(Rhythm.NOTHING, (), None)
    assert "no clock: how long ago an event was says nothing" in nothing.use
    assert "too faint to be worth one" in replace(nothing, faint=(period(DAY, 0.06),)).use
    assert "cannot tell" in routines(Rhythm.UNKNOWN, (), None).use


def test_a_search_finds_nothing_in_recency() -> None:
    lift = decaying(DAY)
    search = search_periods(lift, shortest=6 * HOUR)
    assert judge_rhythm(search.periods, find_recency(lift))[0] is Rhythm.RECENCY
    with pytest.raises(InputError):
        search_periods(replace(lift, lags=lift.lags[:2]), shortest=6 * HOUR)
