"""How near a draw comes: against plain loops, and the figures with equal and unequal pairs."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from laws_drawn import DAILY, DAY, HOUR, LAWS, gaussian

from rota.errors import InputError
from rota.frequencies import Frequencies, draw, kernel_rmse, realised_profile, still_share

LAGS = np.arange(0.0, DAY, 600)
LAW = LAWS["lattice, folded"]


@pytest.mark.parametrize("shape", [None, (5,), (3, 5)], ids=str)
def test_against_plain_loops(shape: tuple[int, ...] | None) -> None:
    drawn = draw(gaussian(HOUR), 5, 3, seed=4)
    weights = None if shape is None else np.random.default_rng(0).exponential(size=shape)
    sizes = np.broadcast_to(np.ones(5) if weights is None else weights, (3, 5))
    lags = np.array([-7000.0, 0.0, 11.5, 90_000.0])
    profile = np.zeros((3, 4))
    for head in range(3):
        for at, lag in enumerate(lags):
            terms = [
                sizes[head, j] * math.cos(2 * math.pi * drawn.cycles_per_second[head, j] * lag)
                for j in range(5)
            ]
            profile[head, at] = sum(terms) / sum(sizes[head])
    np.testing.assert_allclose(realised_profile(drawn, lags, weights), profile, rtol=0, atol=1e-12)
    found = kernel_rmse(drawn, gaussian(HOUR), lags, weights)
    wanted = np.exp(-0.5 * (lags / HOUR) ** 2)
    np.testing.assert_allclose(found.heads, np.sqrt(((profile - wanted) ** 2).mean(1)), rtol=1e-12)
    assert found.together == pytest.approx(np.sqrt(((profile.mean(0) - wanted) ** 2).mean()), rel=1e-12)


def test_many_lags_are_taken_in_blocks() -> None:
    drawn = draw(LAW, 8, 2, seed=0)
    lags = np.arange(0.0, 10_000)
    whole = realised_profile(drawn, lags)
    assert whole.shape == (2, 10_000)
    np.testing.assert_allclose(whole[:, 5000:5010], realised_profile(drawn, lags[5000:5010]), rtol=1e-12)


def test_an_exact_draw_has_no_error() -> None:
    """Harmonics in exact proportion to their masses; a kernel and its law are asked alike."""
    lattice = LAWS["lopsided"]
    harmonics = np.repeat([-2, 0, 1, 2], [1, 2, 4, 3])[None]
    exact = Frequencies(harmonics / 3600, harmonics, np.int64(3600))
    error = kernel_rmse(exact, lattice, LAGS + 7)
    assert error.heads.max() < 1e-12
    assert error.together < 1e-12
    drawn = draw(DAILY.spectrum(), 8, 2, seed=0)
    by_law = kernel_rmse(drawn, DAILY.spectrum(), LAGS)
    np.testing.assert_allclose(kernel_rmse(drawn, DAILY, LAGS).heads, by_law.heads, rtol=0, atol=1e-12)


def root_mean_square(method: str, exponential: bool, seeds: int = 60, heads: int = 8) -> float:
    squares = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 1])
        weights = rng.exponential(size=(heads, 32)) if exponential else None
        error = kernel_rmse(draw(LAW, 32, heads, seed, method=method), LAW, LAGS, weights)
        squares.append((error.heads**2).mean())
    return math.sqrt(np.mean(squares))


def test_unequal_weights_eat_much_of_the_gain() -> None:
    """The figures that the docstring gives."""
    assert root_mean_square("iid", False) == pytest.approx(0.120, rel=0.05)
    assert root_mean_square("systematic", False) == pytest.approx(0.027, rel=0.05)
    for even in ("systematic", "nested_lattice"):
        unequal, independent = root_mean_square(even, True), root_mean_square("iid", True)
        assert unequal == pytest.approx(0.121, rel=0.05)
        assert independent == pytest.approx(0.167, rel=0.05)
        assert independent / unequal == pytest.approx(1.38, abs=0.06)


def test_share_of_pairs_that_never_rotate() -> None:
    assert LAW.mass_at(0.0) == pytest.approx(0.2090, abs=5e-5)
    for pairs, still in ((4, 0.84), (8, 1.67), (16, 3.34), (32, 6.69), (64, 13.4)):
        assert pairs * float(LAW.mass_at(0.0)) == pytest.approx(still, rel=5e-3)
    shares = np.array([still_share(draw(LAW, 32, 4, seed)) for seed in range(100)])
    assert shares.shape == (100, 4)
    assert shares.mean() == pytest.approx(0.2090, abs=2e-3)
    assert still_share(Frequencies(np.array([[0.0, 1.0, -0.0, 2.0]]), None, None)).tolist() == [0.5]
    assert still_share(draw(gaussian(HOUR), 8, 2, 0)).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: kernel_rmse(draw(LAW, 4, 2, 0), LAW, []), r"lags of shape \(0,\)"),
        (lambda: kernel_rmse(draw(LAW, 4, 2, 0), LAW, 3.0), r"lags of shape \(\)"),
        (lambda: kernel_rmse(draw(LAW, 4, 2, 0), LAW, LAGS, [1.0, 2.0]), r"shape \(2,\) for 4 pairs of 2"),
        (lambda: realised_profile(draw(LAW, 2, 2, 0), LAGS, [1.0, -1.0]), "not negative"),
        (lambda: realised_profile(draw(LAW, 2, 2, 0), LAGS, [[1.0, 1.0], [0.0, 0.0]]), "all zero in a head"),
        (lambda: realised_profile(draw(LAW, 2, 2, 0), LAGS, [1.0, math.nan]), "not negative"),
    ],
)
def test_what_cannot_be_measured_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)
