"""From lift to law: known laws are found again, and no more than is there."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import lsq_linear

from rota.analysis import Lift, fit_law
from rota.analysis.law_columns import Decay, Harmonic, Level, averaged, columns_of
from rota.analysis.law_sums import Sums, sums_of_folds
from rota.errors import InputError
from rota.kernels import Constant, Harmonics, Laplace, Measured, WrappedGaussian
from rota.types import Float64Array

HOUR, DAY = 3600.0, 86_400.0
QUARTER = 900.0
TRUTH = Measured(
    Constant() * 0.3 + Harmonics("24h", [1, 2, 3, 4, 5], [5, 4, 3, 2, 1]) * 0.45 + Laplace("16h") * 0.25
)


def lift_of(
    profile: Callable[[Float64Array], Float64Array],
    *,
    peak: float = 3.0,
    width: float = QUARTER,
    days: float = 14,
    groups: int = 40,
    chance: float = 20.0,
    seed: int | None = 0,
) -> Lift:
    """A lift as a log with this profile would have it; exact in the mean, or with Poisson noise."""
    lags = width * np.arange(1, int(days * DAY / width) + 1)
    inside = lags[:, None] + width * (np.arange(24) + 0.5) / 24 - width / 2
    mean = peak * profile(inside).mean(axis=1)
    scale = 1 if seed is not None else 10**9  # counts are whole: so many that rounding is not seen
    expected = np.full((groups, len(lags)), chance * scale)
    wanted = expected * mean
    same = np.rint(wanted) if seed is None else np.random.default_rng(seed).poisson(wanted)
    return Lift(lags, width, same.astype(np.int64), same.astype(np.int64), expected, groups, 1, 1.0)


def harmonics_of(kernel: Measured, period: float = DAY) -> dict[int, float]:
    """Shares of f(0) by harmonic."""
    for share, part in kernel.periodic:
        if part.period == period:
            _, numbers, masses = part.arrays()
            return dict(zip(numbers.tolist(), (share * masses).tolist(), strict=True))
    return {}


@pytest.mark.parametrize("width", [QUARTER, HOUR])
@pytest.mark.parametrize(
    "column", [Level(), Harmonic(DAY, 1), Harmonic(DAY, 11), Decay(HOUR), Decay(DAY)], ids=str
)
def test_columns_are_means_over_bins(column: Level | Harmonic | Decay, width: float) -> None:
    lags = width * np.array([1, 2, 7, 24, 96, 500])

    def plain(lag: float) -> float:
        if isinstance(column, Harmonic):
            return float(np.cos(2 * np.pi * column.number * lag / column.period))
        return float(np.exp(-abs(lag) / column.width)) if isinstance(column, Decay) else 1.0

    wanted = [quad(plain, lag - width / 2, lag + width / 2, epsrel=1e-12)[0] / width for lag in lags]
    np.testing.assert_allclose(averaged([column], lags, width)[:, 0], wanted, rtol=0, atol=1e-10)


def test_each_frequency_is_one_period_s_own_and_none_is_faster_than_bins_show() -> None:
    columns = columns_of([7 * DAY, DAY], width=QUARTER, resolution=0, longest=28 * DAY)
    assert sum(isinstance(column, Level) for column in columns) == 1
    day = [one.number for one in columns if isinstance(one, Harmonic) and one.period == DAY]
    week = [one.number for one in columns if isinstance(one, Harmonic) and one.period == 7 * DAY]
    assert day == list(range(1, 49))
    assert week == [number for number in range(1, 65) if number % 7]
    widths = [one.width / HOUR for one in columns if isinstance(one, Decay)]
    assert widths == [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256]
    coarse = columns_of([DAY], width=QUARTER, resolution=HOUR, longest=28 * DAY)
    assert max(one.number for one in coarse if isinstance(one, Harmonic)) == 12


@pytest.mark.parametrize("width", [QUARTER, 2 * HOUR])
def test_a_law_is_found_again_where_there_is_no_noise(width: float) -> None:
    """Also in bins that flatten its fifth harmonic by an eighth."""
    found = fit_law(lift_of(TRUTH, width=width, days=28, seed=None), ["24h"])
    assert found.peak == pytest.approx(3.0, rel=2e-3)
    assert found.kernel.static == pytest.approx(0.3, abs=2e-3)
    assert harmonics_of(found.kernel) == pytest.approx(
        {number: 0.45 * (6 - number) / 15 for number in range(1, 6)}, abs=2e-3
    )
    lags = np.linspace(0, 14 * DAY, 2000)
    assert np.abs(found.kernel(lags) - TRUTH(lags)).max() < 5e-3
    assert found.distance < 2e-3
    assert found.first == width


@pytest.mark.parametrize("seed", range(4))
def test_noise_moves_a_law_little_and_the_band_holds_it(seed: int) -> None:
    found = fit_law(lift_of(TRUTH, seed=seed), ["24h"])
    lags = np.linspace(0, 7 * DAY, 2000)
    assert np.abs(found.kernel(lags) - TRUTH(lags)).max() < 0.04
    assert 0.9 < found.within < 0.98  # of bins, each in its own band of 95 %
    # Of a bin the lift has an error of sqrt(lift / pairs); the fit's own is small beside it.
    noise = np.sqrt((found.fitted / (20.0 * 40)).mean()) / found.peak
    assert found.distance == pytest.approx(noise, rel=0.1)


def test_held_out_users_choose_as_many_harmonics_as_there_are() -> None:
    chosen = [max(harmonics_of(fit_law(lift_of(TRUTH, seed=seed), ["24h"]).kernel)) for seed in range(6)]
    assert min(chosen) >= 5  # the fifth is one thirtieth of f(0), and is seen
    assert sorted(chosen)[4] <= 6  # of 48 that are tried


def test_a_period_that_is_not_there_is_not_made_up() -> None:
    flat = [
        fit_law(lift_of(Constant(), peak=1.0, width=HOUR, seed=seed), ["24h"]).kernel for seed in range(6)
    ]
    assert sum(kernel == Measured(Constant()) for kernel in flat) >= 5
    fading = Measured(Constant() * 0.4 + Laplace("16h") * 0.6)
    faded = [
        fit_law(lift_of(fading, width=HOUR, chance=80.0, seed=seed), ["24h", "7d"]).kernel
        for seed in range(6)
    ]
    assert sum(not kernel.periodic for kernel in faded) >= 5
    assert all(kernel.static == pytest.approx(0.4, abs=0.03) for kernel in faded)
    assert all(1 <= len(kernel.recency) <= 2 for kernel in faded)


def test_what_recurs_and_fades_in_two_ways_is_kept_apart() -> None:
    both = Measured(
        Constant() * 0.4
        + Harmonics("24h", [1, 2], [2, 1]) * 0.15
        + Harmonics("7d", [1, 2], [2, 1]) * 0.15
        + Laplace("2h") * 0.3
    )
    found = fit_law(lift_of(both, days=28, chance=60.0), ["7d", "24h"]).kernel
    assert sum(harmonics_of(found).values()) == pytest.approx(0.15, abs=0.02)
    assert sum(harmonics_of(found, 7 * DAY).values()) == pytest.approx(0.15, abs=0.02)
    assert sum(share for share, _ in found.recency) == pytest.approx(0.3, abs=0.03)


def test_lags_at_which_nobody_returns_are_left_out() -> None:
    """No positive-definite profile has a hole at 0: least squares alone would lower the peaks for it."""
    lift = lift_of(WrappedGaussian("24h", "1h"))
    hole = lift.lags <= 2.5 * HOUR
    holed = Lift(lift.lags, lift.width, np.where(hole, 0, lift.same), lift.pairs, lift.expected, 40, 1, 1.0)
    whole, found = fit_law(lift, ["24h"]), fit_law(holed, ["24h"])
    assert whole.first == QUARTER
    assert 2 * HOUR <= found.first <= 4 * HOUR
    assert found.peak == pytest.approx(whole.peak, rel=0.03)
    lags = np.linspace(0, DAY, 500)
    assert np.abs(found.kernel(lags) - whole.kernel(lags)).max() < 0.03
    assert not found.seen[: int(found.first / QUARTER) - 1].any()
    assert found.seen[int(found.first / QUARTER) :].all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 6))
def test_coefficients_are_the_least_squares_without_negative_ones(seed: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, columns)), rng.normal(size=20)
    found = Sums(X.T @ X, y @ X).solved(range(columns))
    ridged = np.vstack([X, np.eye(columns)])
    wanted = lsq_linear(ridged, np.r_[y, np.zeros(columns)], bounds=(0, np.inf), tol=1e-13).x
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    plain = float(((y - X @ found) ** 2).sum() - (y**2).sum())
    assert Sums(X.T @ X, y @ X).misfit(found) == pytest.approx(plain, abs=1e-9)


def test_sums_of_folds_are_those_of_all_users() -> None:
    lift = lift_of(TRUTH, days=2, groups=23)
    means = averaged([Level(), Harmonic(DAY, 1)], lift.lags, lift.width)
    fit = np.linspace(1, 3, len(lift.lags))
    folds = sums_of_folds(lift, means, fit, first=3)
    assert len(folds) == 10
    weight = (lift.expected.sum(axis=0) / fit)[3:]
    gram = np.einsum("b,bi,bj->ij", weight, means[3:], means[3:])
    moment = np.einsum("b,b,bi->i", weight, lift.value[3:], means[3:])
    np.testing.assert_allclose(sum(fold.gram for fold in folds), gram)
    np.testing.assert_allclose(sum(fold.moment for fold in folds), moment)


def test_facts_say_all_that_the_law_is() -> None:
    found = fit_law(lift_of(TRUTH), ["24h"])
    facts = found.facts()
    shares = [part["share"] for part in (*facts["periodic"], *facts["recency"])]
    assert sum(shares) + facts["static"] == pytest.approx(1)
    assert sum(facts["periodic"][0]["masses"]) == pytest.approx(facts["periodic"][0]["share"])
    assert facts["expression"] == str(found.kernel)
    assert "24h to harmonic 5" in found.in_words or "24h to harmonic 6" in found.in_words
    observed = found.observed(level=False)
    np.testing.assert_allclose(
        observed.value, (found.lift.value / found.peak - found.kernel.static) / (1 - found.kernel.static)
    )
    assert np.all(observed.low <= observed.high)
    nothing = fit_law(lift_of(Constant(), peak=1.0, seed=None), [])
    assert nothing.in_words.startswith("nothing: neither routine nor recency")
    assert "is seen" not in nothing.in_words
    coarse = replace(nothing, lift=nothing.lift.coarser(5))
    assert coarse.in_words.endswith("in bins of 1.25h, so that nothing below 2.5h is seen")
    assert "inside the 95% band" in found.in_words
    alike = replace(found.lift, same=np.tile(found.lift.same[:1], (len(found.lift.same), 1)),
                    expected=np.tile(found.lift.expected[:1], (len(found.lift.same), 1)))  # fmt: skip
    assert "95% band" not in replace(found, lift=alike).in_words


def test_too_little_is_refused() -> None:
    for lift in (lift_of(TRUTH, groups=3), lift_of(TRUTH, chance=0.0)):
        with pytest.raises(InputError, match="chosen by users held out") as refused:
            fit_law(lift, ["24h"])
        assert "\n" not in str(refused.value)
