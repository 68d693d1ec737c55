"""Prop. 3.2: what independent draws are off by, beside the bound; and the pairs that an error needs."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws_drawn import DAY, HOUR, LAWS, band

from rota.errors import InputError
from rota.frequencies import PairsNeeded, draw, expected_logit, pairs_needed, tail_bound
from rota.spectra import Law
from rota.types import Float64Array


def means_of_pairs(q: Float64Array, k: Float64Array, cycles: Float64Array, lag: float) -> Float64Array:
    """Rotated q.k over the number of pairs, for each draw; only the difference of rotations matters."""
    turned = (q[::2] + 1j * q[1::2]) * np.exp(2j * np.pi * np.mod(cycles * lag, 1))
    return (turned * (k[::2] - 1j * k[1::2])).real.mean(1)


def unit_pairs(pairs: int) -> Float64Array:
    return np.tile([1.0, 0.0], pairs)


def independent(law: Law, pairs: int, draws: int) -> Float64Array:
    return draw(law, pairs * draws, 1, seed=0, method="iid").cycles_per_second.reshape(draws, pairs)


@pytest.mark.parametrize(
    ("pairs", "tail", "bound", "half"),
    [(8, 0.29, 1.0, 0.74), (16, 0.21, 0.97, 0.27), (32, 0.11, 0.47, 0.037), (64, 0.017, 0.112, 6.7e-4)],
)
def test_aligned_unit_pairs_half_a_day_apart(pairs: int, tail: float, bound: float, half: float) -> None:
    q = unit_pairs(pairs)
    drawn = means_of_pairs(q, q, independent(LAWS["lattice"], pairs, 20_000), DAY / 2)
    off = np.abs(drawn - expected_logit(q, q, DAY / 2, LAWS["lattice"]) / pairs)
    assert (off >= 0.3).mean() == pytest.approx(tail, rel=0.15)
    assert tail_bound(0.3, q, q) == pytest.approx(bound, rel=0.02)
    assert tail_bound(0.5, q, q) == pytest.approx(half, rel=0.02)


@pytest.mark.parametrize("name", LAWS)
def test_the_tail_is_under_the_bound(name: str) -> None:
    """Symmetric and folded each about its own mean, for pairs of any size and direction."""
    rng = np.random.default_rng(1)
    pairs, draws = 16, 4_000
    cycles = independent(LAWS[name], pairs, draws)
    lags = np.array([1, 2.55, 12, 50]) * HOUR
    for q in (unit_pairs(pairs), rng.normal(size=2 * pairs), rng.normal(size=2 * pairs) ** 3):
        for k in (q, rng.normal(size=2 * pairs)):
            size = np.linalg.norm((q[::2] + 1j * q[1::2]) * (k[::2] + 1j * k[1::2]))
            for lag in lags:
                off = means_of_pairs(q, k, cycles, lag) - expected_logit(q, k, lag, LAWS[name]) / pairs
                for error in np.array([1.3, 1.7, 2.2, 3.0]) * size / pairs:
                    bound = float(tail_bound(error, q, k))
                    slack = 4 * math.sqrt(bound * (1 - bound) / draws)
                    assert (np.abs(off) >= error).mean() <= bound + slack


def test_folded_draws_are_not_near_the_symmetric_mean() -> None:
    """About q.k f alone the bound is broken: the conjugate term is no error that more pairs would mend."""
    pairs, angle = 256, 1.0
    q, k = np.tile([math.cos(angle), math.sin(angle)], pairs), unit_pairs(pairs)
    drawn = means_of_pairs(q, k, independent(LAWS["lattice, folded"], pairs, 2_000), 2 * HOUR)
    error = 0.3
    bound = float(tail_bound(error, q, k))
    assert bound < 1e-4
    own = expected_logit(q, k, 2 * HOUR, LAWS["lattice, folded"]) / pairs
    other = expected_logit(q, k, 2 * HOUR, LAWS["lattice"]) / pairs
    assert (np.abs(drawn - own) >= error).mean() == 0
    assert (np.abs(drawn - other) >= error).mean() > 0.99


@pytest.mark.parametrize(("method", "breaks"), [("systematic", True), ("iid", False), ("stratified", False)])
def test_a_grid_meets_itself_again_at_some_lag(method: str, breaks: bool) -> None:
    """Frequencies on one grid all agree after a lag of 1 / step: there the bound does not hold for them."""
    pairs, law = 64, band(1e-4).fold()
    q, lag = unit_pairs(pairs), pairs / 1e-4
    cycles = np.concatenate(
        [draw(law, pairs, 20, seed, method=method).cycles_per_second for seed in range(20)]
    )
    off = np.abs(means_of_pairs(q, q, cycles, lag) - expected_logit(q, q, lag, law) / pairs)
    assert float(tail_bound(0.5, q, q)) < 1e-3
    share = float((off >= 0.5).mean())
    assert share > 0.5 if breaks else share == 0


def test_the_bound_as_it_is_written() -> None:
    rng = np.random.default_rng(2)
    q, k = rng.normal(size=(2, 5, 12))
    errors = np.array([0.2, 0.5, 1.0, 2.0, 5.0])
    for row, error in enumerate(errors):
        total = 0.0
        for j in range(6):
            one, other = q[row, 2 * j : 2 * j + 2], k[row, 2 * j : 2 * j + 2]
            total += (math.hypot(*one) * math.hypot(*other)) ** 2
        written = 2 * math.exp(-(error**2) * 12**2 / (8 * total))
        assert tail_bound(errors, q, k)[row] == pytest.approx(min(1.0, written), rel=1e-12)
    # What the text speaks of is another sum: zero here, where the bound is not.
    across = np.tile([1.0, 0.0], 4), np.tile([0.0, 1.0], 4)
    assert tail_bound(0.5, *across) == tail_bound(0.5, across[0], across[0]) == 1


@pytest.mark.parametrize(("pairs", "silent"), [(8, 0.42), (16, 0.29), (32, 0.21), (64, 0.15)])
def test_small_errors_are_out_of_its_reach(pairs: int, silent: float) -> None:
    edge = math.sqrt(2 * math.log(2) / pairs)
    assert edge == pytest.approx(silent, abs=5e-3)
    assert tail_bound(0.999 * edge, unit_pairs(pairs), unit_pairs(pairs)) == 1
    assert tail_bound(1.001 * edge, unit_pairs(pairs), unit_pairs(pairs)) < 1


def test_nothing_is_never_off() -> None:
    assert tail_bound(0.1, np.zeros(4), np.ones(4)) == 0
    assert tail_bound(1e-300, np.zeros(4), np.ones(4)) == 0
    np.testing.assert_array_equal(tail_bound([1e-9, 1e9], np.ones(4), np.ones(4)), [1, 0])


def test_published_number_of_pairs() -> None:
    assert pairs_needed(0.1, 0.95) == PairsNeeded(bound=738, normal=385)


@given(
    error=st.floats(0.01, 0.9),
    confidence=st.floats(0.5, 0.999),
    weights=st.lists(st.floats(0.01, 100), min_size=1, max_size=20),
)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_pairs_needed_agrees_with_the_bound(error: float, confidence: float, weights: list[float]) -> None:
    """As many whole repeats of the pattern of weights as are needed reach it, and one fewer does not."""
    needed = pairs_needed(error, confidence, weights)
    assert 1 <= needed.normal <= needed.bound

    def missed(pairs: float) -> float:
        sizes = np.array(weights) / np.sum(weights)
        repeats = pairs / len(weights)
        return 2 * math.exp(-(error**2) * repeats / (2 * float(np.sum(sizes**2))))

    assert missed(needed.bound) <= (1 - confidence) * (1 + 1e-9)
    assert needed.bound == 1 or missed(needed.bound - 1) > (1 - confidence) * (1 - 1e-9)
    equal = pairs_needed(error, confidence)
    assert needed.bound >= equal.bound
    assert pairs_needed(error, confidence, [3.0] * len(weights)) == equal


def test_extreme_questions_have_numbers() -> None:
    assert pairs_needed(1e-6, 0.95).bound == pytest.approx(738e10, rel=1e-3)
    assert pairs_needed(1e200, 0.5) == PairsNeeded(bound=1, normal=1)
    surest = pairs_needed(0.1, 1 - 2.0**-53)  # the next confidence is 1
    assert 6_800 < surest.normal < surest.bound < 7_500


def test_the_bound_holds_at_the_number_of_pairs() -> None:
    weights = [1.0, 2.0, 5.0]
    for error, confidence in ((0.3, 0.9), (0.2, 0.99)):
        needed = pairs_needed(error, confidence, weights)
        repeats = -(-needed.bound // 3)
        sizes = np.tile(weights, repeats)
        q = np.stack([sizes, np.zeros_like(sizes)], -1).ravel()
        of_mean = error * sizes.sum() / len(sizes)  # tail_bound divides by pairs, not by their sizes
        assert tail_bound(of_mean, q, unit_pairs(len(sizes))) <= 1 - confidence


def test_exponential_weights_need_twice_the_pairs() -> None:
    quantiles = -np.log1p(-(np.arange(20_000) + 0.5) / 20_000)
    needed = pairs_needed(0.1, 0.95, quantiles.tolist())
    assert needed.bound == pytest.approx(2 * 738, rel=0.01)
    assert needed.normal == pytest.approx(2 * 385, rel=0.01)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: tail_bound(0.0, np.ones(2), np.ones(2)), "error 0.0"),
        (lambda: tail_bound([0.1, math.nan], np.ones(2), np.ones(2)), "error .*nan"),
        (lambda: tail_bound(0.1, np.ones(3), np.ones(3)), "even size"),
        (lambda: pairs_needed(0.0, 0.9), "error 0.0"),
        (lambda: pairs_needed(math.inf, 0.9), "error inf"),
        (lambda: pairs_needed(1e-200, 0.95), "error 1e-200: .* at least 1e-06"),
        (lambda: pairs_needed(1e-160, 0.95), "error 1e-160"),
        (lambda: pairs_needed(0.1, 1.0), "confidence 1.0"),
        (lambda: pairs_needed(0.1, 0.0), "confidence 0.0"),
        (lambda: pairs_needed(0.1, 0.9, []), "weights"),
        (lambda: pairs_needed(0.1, 0.9, [0.0, 0.0]), "weights"),
        (lambda: pairs_needed(0.1, 0.9, [1.0, -1.0]), "weights"),
        (lambda: pairs_needed(0.1, 0.9, [1.0, math.nan]), "weights"),
    ],
)
def test_bad_questions_are_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)
