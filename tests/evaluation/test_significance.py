"""Paired bootstrap: degenerate cases exactly, scipy's and theory's interval, coverage by simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from rota.errors import InputError
from rota.evaluation import PairedDifference, paired_difference
from rota.evaluation.significance import paired_differences


def test_a_constant_difference_has_no_width() -> None:
    control = np.random.default_rng(0).random(50)
    found = paired_difference(control + 0.1, control)
    assert found.lo == found.diff == found.hi == pytest.approx(0.1)
    assert paired_difference(control, control) == PairedDifference(0.0, 0.0, 0.0)


def test_seeds_are_averaged_for_each_user_first() -> None:
    rng = np.random.default_rng(1)
    arm, control = rng.random((3, 40)), rng.random((2, 40))
    assert paired_difference(arm, control) == paired_difference(arm.mean(axis=0), control.mean(axis=0))


def test_equals_a_slow_bootstrap() -> None:
    rng = np.random.default_rng(2)
    arm, control = rng.random(30), rng.random(30)
    difference = arm - control
    draw = np.random.default_rng(0)
    means = [difference[draw.integers(0, 30, 30)].mean() for _ in range(4000)]
    found = paired_difference(arm, control, confidence=0.9)
    assert found.diff == pytest.approx(difference.mean())
    assert [found.lo, found.hi] == pytest.approx(np.quantile(means, [0.05, 0.95]), abs=0.01)


@pytest.mark.parametrize("users", [2, 30, 301])
def test_equals_scipy_with_the_same_draws(users: int) -> None:
    differences = np.random.default_rng(users).normal(0.1, 1, (3, users)) * [[1], [1e-9], [1e6]]
    found = paired_differences(differences, resamples=2_000, confidence=0.9, seed=7)
    for row, mine in zip(differences, found, strict=True):
        theirs = bootstrap(
            (row,),
            np.mean,
            n_resamples=2_000,
            confidence_level=0.9,
            method="percentile",
            rng=np.random.default_rng(7),
        ).confidence_interval
        scale = np.abs(row).max()
        assert mine.diff == row.mean()
        assert [mine.lo, mine.hi] == pytest.approx([theirs.low, theirs.high], rel=0, abs=1e-12 * scale)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 9), st.integers(2, 70), st.integers(0, 2**32))
def test_a_pair_alone_and_among_others_is_the_same_to_the_last_bit(rows: int, users: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, control = rng.random((rows, users)) * 10.0 ** rng.integers(-9, 9, (rows, 1)), rng.random(users)
    values[-1] = control + 0.25  # a constant among them
    stacked = paired_differences(values - control, resamples=199, seed=3)
    assert stacked == [paired_difference(row, control, resamples=199, seed=3) for row in values]
    assert stacked[-1].lo == stacked[-1].diff == stacked[-1].hi


def test_no_pairs_and_extreme_figures() -> None:
    assert paired_differences(np.zeros((0, 5))) == []
    tiny, huge = paired_differences(np.array([[1e-300, 2.0], [1e300, -1e300]]), resamples=99)
    assert 0 <= tiny.lo <= 1 <= tiny.hi <= 2
    assert [huge.lo, huge.hi] == [-1e300, 1e300]


@pytest.mark.slow
def test_many_pairs_of_many_users() -> None:
    differences = np.random.default_rng(8).normal(size=(28, 20_000))
    found = paired_differences(differences)
    assert found[3].hi - found[3].lo == pytest.approx(2 * 1.96 / np.sqrt(20_000), rel=0.05)


def test_width_follows_the_pairs_and_not_the_arms() -> None:
    control = np.random.default_rng(3).normal(0, 10, 400)
    noise = np.random.default_rng(4).normal(0.5, 1, 400)
    found = paired_difference(control + noise, control)
    assert found.hi - found.lo == pytest.approx(2 * 1.96 * noise.std() / 20, rel=0.05)


def test_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    trials = [
        paired_difference(
            1.0 * (rng.random(100) < 0.35), 1.0 * (rng.random(100) < 0.3), resamples=400, confidence=0.8
        )
        for _ in range(300)
    ]
    assert 0.73 < np.mean([t.lo <= 0.05 <= t.hi for t in trials]) < 0.87


def test_batches_do_not_change_the_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    arm, control = np.random.default_rng(6).random((2, 64))
    whole = paired_difference(arm, control, resamples=999)
    monkeypatch.setattr("rota.evaluation.significance._CELLS", 640)
    assert paired_difference(arm, control, resamples=999) == whole
    assert paired_difference(arm, control, resamples=999, seed=1) != whole


@pytest.mark.parametrize(
    ("values", "control", "message"),
    [
        (np.zeros(3), np.zeros(4), "3 users, control of 4"),
        (np.zeros(1), np.zeros(1), "at least two users"),
        (np.zeros((0, 3)), np.zeros(3), "at least two users"),
        (np.array([0.0, np.nan]), np.zeros(2), "values: expected finite numbers, got nan"),
        (np.zeros((2, 2, 2)), np.zeros(2), r"values of shape \(2, 2, 2\)"),
    ],
)
def test_refusals(values: np.ndarray, control: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        paired_difference(values, control)


@pytest.mark.parametrize(
    ("differences", "options", "message"),
    [
        (np.zeros(3), {}, r"differences of shape \(3,\)"),
        (np.zeros((3, 1)), {}, "two users or more"),
        (np.full((1, 2), np.inf), {}, "differences: expected finite numbers, got inf"),
        (np.zeros((1, 2)), {"resamples": 0}, "0 resamples at confidence 0.95"),
        (
            np.zeros((1, 2)),
            {"confidence": 95.0},
            "confidence 95.0: expected at least one, and a share below 1",
        ),
    ],
)
def test_stacked_refusals(differences: np.ndarray, options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        paired_differences(differences, **options)  # type: ignore[arg-type]
