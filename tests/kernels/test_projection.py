"""Projection: admissible, near, and at rest when done twice."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_certification import ADMISSIBLE, paper

from rota.errors import InputError
from rota.kernels import (
    Cosine,
    Gaussian,
    Harmonics,
    Kernel,
    PeriodicGaussian,
    Smoothness,
    certify,
    from_function,
    project,
)
from rota.kernels.refining import _at_quarters, _Sums

HOUR, DAY = 3600.0, 86_400.0
LAGS = np.random.default_rng(0).uniform(-2 * DAY, 2 * DAY, 400)


@pytest.mark.parametrize("kernel", ADMISSIBLE, ids=str)
def test_what_is_admissible_is_its_own_projection(kernel: Kernel) -> None:
    found = project(kernel)
    assert found.kernel is kernel
    assert found.distance == 0


@pytest.mark.parametrize(("width", "distance"), [(2, 1e-8), (2.5, 1e-5), (3, 3e-4), (6, 0.04)])
def test_the_papers_periodic_gaussian(width: float, distance: float) -> None:
    kernel = PeriodicGaussian("24h", width * HOUR)
    found = project(kernel)
    assert certify(found.kernel).verdict == "yes"
    assert 0.1 * distance < found.distance < distance
    apart = np.abs(found.kernel(LAGS) - kernel(LAGS)).max()
    assert 0.5 * found.distance < apart <= found.distance * 1.001
    again = project(found.kernel)
    assert again.kernel is found.kernel
    assert project(paper(width), "24h").distance == pytest.approx(found.distance, rel=1e-3)


def test_clip_and_renormalise_by_hand() -> None:
    found = project(
        lambda lag: 0.8 + 0.4 * np.cos(2 * np.pi * lag / DAY) - 0.2 * np.cos(4 * np.pi * lag / DAY), DAY
    )
    assert isinstance(found.kernel, Harmonics)
    assert tuple(found.kernel.harmonics) == (0, 1)
    np.testing.assert_allclose(found.kernel.masses, [2 / 3, 1 / 3], atol=1e-14)
    assert found.distance == pytest.approx(0.336111, abs=1e-6)


@settings(max_examples=12)
@given(
    masses=st.lists(st.floats(-1, 1), min_size=1, max_size=20).filter(lambda some: max(some) > 0.05),
)
def test_any_lattice_becomes_its_positive_part(masses: list[float]) -> None:
    amounts = np.array(masses)

    def profile(lag: np.ndarray) -> np.ndarray:
        turn = np.mod(np.asarray(lag), DAY) / DAY
        return np.cos(2 * np.pi * np.arange(len(amounts)) * turn[..., None]) @ amounts

    found = project(profile, DAY)
    assert isinstance(found.kernel, Harmonics)
    positive = np.maximum(amounts, 0) / np.maximum(amounts, 0).sum()
    law = found.kernel.spectrum().fold()
    np.testing.assert_allclose(law.pmf(np.arange(len(amounts))), positive, atol=1e-2)
    assert found.kernel(0.0) == pytest.approx(1)
    assert np.abs(found.kernel(LAGS) - profile(LAGS)).max() <= found.distance + 1e-9
    again = project(lambda lag: found.kernel(lag), DAY)
    assert again.distance < 1e-9


@pytest.mark.parametrize(
    "profile",
    [
        lambda x: np.where(np.abs(x) < HOUR, 1.0, 0.0),
        lambda x: np.maximum(0, 1 - (x / HOUR) ** 2),
        lambda x: np.exp(-((x / HOUR) ** 4)),
        lambda x: np.exp(-((x / HOUR) ** 2)) * (1 + x / HOUR / 2),
        lambda x: 3 * np.exp(-0.5 * (x / HOUR) ** 2),
    ],
)
def test_on_the_line(profile: object) -> None:
    found = project(profile)  # type: ignore[arg-type]
    assert certify(found.kernel).verdict == "yes"
    assert found.kernel(0.0) == pytest.approx(1)
    lags = np.concatenate([np.linspace(-4, 4, 801), np.geomspace(1e-3, 1e4, 99)]) * HOUR
    apart = np.abs(found.kernel(lags) - profile(lags)).max()  # type: ignore[operator]
    assert 0.5 * found.distance < apart <= found.distance + 1e-9
    points = np.random.default_rng(1).uniform(-3 * HOUR, 3 * HOUR, 30)
    assert np.linalg.eigvalsh(found.kernel(points[:, None] - points)).min() > -1e-11
    assert project(found.kernel).kernel is found.kernel


def plain_supremum(apart: Callable[[np.ndarray], np.ndarray], grid: np.ndarray) -> float:
    """Largest value of a function, by an even grid and finer ones about each of its three best cells."""
    values = apart(grid)
    best = np.argsort(-values)[:3]
    for scale in (5e-2, 2e-3, 1e-4):
        fine = [grid[at] + np.linspace(-1, 1, 41) * (grid[1] - grid[0]) for at in best]
        looked = [one[apart(one).argmax()] for one in fine]
        closer = np.concatenate([at + np.linspace(-1, 1, 41) * (grid[1] - grid[0]) * scale for at in looked])
        values = np.append(values, apart(closer))
    return float(values.max())


@pytest.mark.parametrize(
    ("profile", "distance"),
    [
        (lambda x: np.exp(-((x / HOUR) ** 4)), 0.1842788),
        (lambda x: np.exp(-((x / HOUR) ** 2)) * (1 + x / HOUR / 2), 0.2144410),
        (lambda x: np.maximum(0, 1 - (x / HOUR) ** 2), 0.1212967),
    ],
    ids=["fourth power", "not even", "parabola"],
)
def test_distance_is_the_supremum(profile: Callable[[np.ndarray], np.ndarray], distance: float) -> None:
    found = project(profile)
    grid = np.linspace(-2 * HOUR, 2 * HOUR, 801)
    apart = plain_supremum(lambda lag: np.abs(found.kernel(lag) - profile(lag)), grid)
    assert apart == pytest.approx(distance, abs=1e-6)
    assert apart - 1e-9 <= found.distance <= apart + 1e-6


@pytest.mark.parametrize("period", [None, DAY])
def test_distance_at_a_jump_is_the_limit_on_its_worse_side(period: float | None) -> None:
    edge = 1.2345 * HOUR

    def box(lag: np.ndarray) -> np.ndarray:
        near = lag if period is None else np.mod(lag + period / 2, period) - period / 2
        return np.where(np.abs(near) < edge, 1.0, 0.0)

    found = project(box, period)
    sides = np.array([np.nextafter(edge, 0), np.nextafter(edge, DAY)])
    limits = np.abs(found.kernel(sides) - [1.0, 0.0]).max()
    grid = edge + np.linspace(-1, 1, 801) * (HOUR / 4 if period is None else 20)  # some samples of either
    about = plain_supremum(lambda lag: np.abs(found.kernel(lag) - box(lag)), grid)
    assert found.distance == pytest.approx(max(limits, about), abs=1e-6)
    assert found.distance > 0.5


@pytest.mark.parametrize("harmonic", [1, 31, 500, 1024])
def test_sums_between_samples_are_interpolated(harmonic: int) -> None:
    masses = np.zeros(1025)
    masses[[0, harmonic]] = 0.25, 0.75
    sums = _Sums(_at_quarters(masses))
    quarters = np.concatenate([np.random.default_rng(0).uniform(0, 30_000, 500), [0.0, 4096.0, 0.5, 4095.5]])
    plain = 0.25 + 0.75 * np.cos(2 * np.pi * harmonic * quarters / 8192)
    np.testing.assert_allclose(sums(quarters), plain, atol=3e-13)


def test_the_algebra_keeps_its_form() -> None:
    rough = PeriodicGaussian("24h", "6h")
    one = project(rough)
    for whole, most in (
        (rough * 0.5 + Cosine("7d") * 0.5, 0.5 * one.distance),
        (rough * Gaussian("7d"), one.distance),
        (rough.rescale(2), one.distance),
    ):
        found = project(whole)
        assert type(found.kernel) is type(whole)
        assert certify(found.kernel).verdict == "yes"
        assert found.distance == pytest.approx(most)
        assert np.abs(found.kernel(LAGS) - whole(LAGS)).max() <= found.distance * 1.001


def test_distance_is_the_bound_where_there_is_one() -> None:
    kernel = from_function(paper(2), "24h", smoothness=Smoothness(1, 1e-4))
    assert project(kernel).distance == kernel.inversion().bound


def test_what_cannot_be_projected() -> None:
    with pytest.raises(InputError, match="give its period"):
        project(lambda lag: np.cos(lag / HOUR))
    with pytest.raises(InputError, match="not finite at a lag of 0 s"):
        project(lambda lag: np.sin(lag) / lag)
    with pytest.raises(InputError, match="no positive Fourier coefficient"):
        project(lambda lag: -np.cos(lag), 2 * np.pi)
    with pytest.raises(InputError, match="a period beside"):
        project(Cosine("24h"), "24h")
