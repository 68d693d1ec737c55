"""Prop. 3.1 and Cor. 3.3: means over draws, with real rotations, are what the formula says."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws_drawn import DAILY, DAY, HOUR, LAWS, WEEKLY

from rota.errors import InputError
from rota.frequencies import draw, expected_logit
from rota.kernels import Cosine, Kernel
from rota.spectra import Lattice, Law
from rota.types import Float64Array

NOW = 1_700_000_000.0
LAGS = np.array([-5.5, -2.55, 0.0, 0.7, 2.0, 6.0, 12.0, 40.0]) * HOUR


def rotated(x: Float64Array, cycles: Float64Array, time: Float64Array) -> Float64Array:
    """Every pair turned by its own 2x2 matrix (Eq. 3), counterclockwise; shape (times, draws, pairs, 2)."""
    angle = 2 * np.pi * np.mod(np.multiply.outer(time, cycles), 1)
    cosine, sine = np.cos(angle), np.sin(angle)
    first, second = x[::2], x[1::2]
    return np.stack([cosine * first - sine * second, sine * first + cosine * second], -1)


def logits(q: Float64Array, k: Float64Array, cycles: Float64Array) -> Float64Array:
    """Products of rotated q and k for each lag and draw: the query at its time, the key at its own."""
    asked, seen = rotated(q, cycles, NOW + LAGS), rotated(k, cycles, np.full(len(LAGS), NOW))
    return (asked * seen).sum((-1, -2))


def query_and_key(pairs: int) -> tuple[Float64Array, Float64Array]:
    rng = np.random.default_rng(5)
    q = rng.normal(size=2 * pairs)
    return q, 0.5 * q + rng.normal(size=2 * pairs)


@pytest.mark.parametrize("name", LAWS)
def test_mean_over_independent_draws(name: str) -> None:
    q, k = query_and_key(3)
    cycles = draw(LAWS[name], 3 * 6_000, 1, seed=0, method="iid").cycles_per_second.reshape(-1, 3)
    drawn = logits(q, k, cycles)
    expected = expected_logit(q, k, LAGS, LAWS[name])
    standard_error = drawn.std(1) / np.sqrt(drawn.shape[1])
    assert (np.abs(drawn.mean(1) - expected) <= 4.5 * standard_error + 1e-7).all()
    assert (standard_error < 0.06).all()


@pytest.mark.parametrize("method", ["nested_lattice", "systematic", "stratified", "sobol"])
@pytest.mark.parametrize("name", ["lattice", "lattice, folded", "gaussian, folded", "two periods, folded"])
def test_mean_over_even_draws(name: str, method: str) -> None:
    """Each pair's frequency has the law, though not independently; weights may be anything."""
    q, k = query_and_key(4)
    draws = [draw(LAWS[name], 4, 4, seed, method=method).cycles_per_second for seed in range(120)]
    drawn = (
        logits(q, k, np.concatenate(draws)).reshape(len(LAGS), 120, 4).mean(2)
    )  # heads are not independent
    standard_error = drawn.std(1) / np.sqrt(120)
    off = np.abs(drawn.mean(1) - expected_logit(q, k, LAGS, LAWS[name]))
    assert (off <= 4.5 * standard_error + 1e-7).all()


def test_symmetric_and_folded_have_means_of_their_own() -> None:
    q, k = query_and_key(3)
    symmetric = expected_logit(q, k, LAGS, LAWS["lattice"])
    folded = expected_logit(q, k, LAGS, LAWS["lattice, folded"])
    np.testing.assert_allclose(
        symmetric, q @ k * DAILY(LAGS), atol=1e-3 * abs(q @ k)
    )  # what truncation leaves
    cross = float(q[1::2] @ k[::2] - q[::2] @ k[1::2])
    sines = LAWS["lattice, folded"].characteristic(LAGS).imag
    np.testing.assert_allclose(folded, symmetric - cross * sines, rtol=0, atol=1e-12)
    assert np.abs(folded - symmetric).max() > 0.3


def test_the_figures_of_folding() -> None:
    """24 h and 2 h: f~ reaches 0.587 at 2.55 h; a query 0.3 or 1 rad ahead loses much at 2 h."""
    law = LAWS["lattice, folded"]
    lags = np.arange(0, DAY / 2, 36)
    sines = law.characteristic(lags).imag
    assert sines.max() == pytest.approx(0.587, abs=1e-3)
    assert lags[sines.argmax()] / HOUR == pytest.approx(2.55, abs=0.02)
    for angle, folded, symmetric in ((0.3, 0.415, 0.580), (1.0, -0.143, 0.328)):
        q, k = np.array([np.cos(angle), np.sin(angle)]), np.array([1.0, 0.0])
        assert expected_logit(q, k, 2 * HOUR, law) == pytest.approx(folded, abs=1e-3)
        assert expected_logit(q, k, 2 * HOUR, LAWS["lattice"]) == pytest.approx(symmetric, abs=1e-3)


@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(list(LAWS)), angle=st.floats(-3, 3))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_laws_of_the_mean(seed: int, name: str, angle: float) -> None:
    rng = np.random.default_rng(seed)
    q, k, lag = rng.normal(size=(4, 6)), rng.normal(size=6), rng.normal(size=4) * DAY
    mean = expected_logit(q, k, lag, LAWS[name])
    assert mean.shape == (4,)
    assert mean.dtype == np.float64
    size = np.linalg.norm(q, axis=-1) * np.linalg.norm(k)
    assert (np.abs(mean) <= size * (1 + 1e-12)).all()
    close = {"rtol": 0, "atol": 1e-9}
    np.testing.assert_allclose(expected_logit(q, k, 0 * lag, LAWS[name]), q @ k, **close)
    np.testing.assert_allclose(expected_logit(k, q, -lag, LAWS[name]), mean, **close)  # roles exchanged
    np.testing.assert_allclose(expected_logit(2 * q, -k, lag, LAWS[name]), -2 * mean, **close)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turned_q, turned_k = ((x.reshape(-1, 3, 2) @ turn.T).reshape(x.shape) for x in (q, k))
    np.testing.assert_allclose(expected_logit(turned_q, turned_k, lag, LAWS[name]), mean, **close)


@pytest.mark.parametrize(
    ("kernel", "period"),
    [(DAILY, DAY), (Cosine("24h"), DAY), (0.7 * DAILY + 0.3 * WEEKLY, 7 * DAY), (DAILY * WEEKLY, 7 * DAY)],
    ids=str,
)
def test_periodic_profiles_have_masses_of_harmonics(kernel: Kernel, period: int) -> None:
    """Cor. 3.3: Fourier coefficients (Eq. 14) are masses, and drawn harmonics have them."""
    points = 4096
    coefficients = np.fft.rfft(kernel(np.arange(points) * period / points)).real / points
    assert coefficients.min() > -1e-12
    assert coefficients[0] + 2 * coefficients[1:].sum() == pytest.approx(1, abs=1e-10)
    law: Law = kernel.spectrum()
    drawn = draw(law, 50_000, 1, seed=0, method="iid")
    assert drawn.harmonics is not None
    assert drawn.period == period
    harmonics = np.arange(-50, 51)
    masses = coefficients[np.abs(harmonics)]
    np.testing.assert_allclose(law.mass_at(harmonics / period), masses, rtol=0, atol=1e-10)
    shares = (drawn.harmonics[0] == harmonics[:, None]).mean(1)
    assert (np.abs(shares - masses) <= 5 * np.sqrt(np.maximum(masses, 0) / 50_000) + 1e-9).all()


def test_lags_broadcast() -> None:
    law = Lattice(24.0, np.array([1]), np.array([1.0]))
    q, k = np.ones((3, 1, 2)), np.ones((5, 2))
    mean = expected_logit(q, k, np.arange(5.0), law)
    assert mean.shape == (3, 5)
    np.testing.assert_allclose(mean[0], 2 * np.cos(2 * np.pi * np.arange(5) / 24), atol=1e-12)
    assert expected_logit([1.0, 0.0], [0.0, 1.0], 6, law) == pytest.approx(1)  # the key a quarter ahead


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: expected_logit(np.ones(3), np.ones(3), 0.0, LAWS["lattice"]), "even size"),
        (
            lambda: expected_logit(np.ones(4), np.ones(2), 0.0, LAWS["lattice"]),
            r"\(4,\) and key of shape \(2,\)",
        ),
        (lambda: expected_logit(1.0, 1.0, 0.0, LAWS["lattice"]), "even size"),
        (lambda: expected_logit(np.ones(0), np.ones(0), 0.0, LAWS["lattice"]), "even size"),
    ],
)
def test_what_has_no_mean_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)
