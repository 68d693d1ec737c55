"""Paired bootstrap: degenerate cases exactly, the interval against theory, coverage by simulation."""

import numpy as np
import pytest

from rota.errors import InputError
from rota.evaluation import PairedDifference, paired_difference


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
