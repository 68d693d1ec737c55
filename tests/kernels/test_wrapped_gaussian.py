"""WrappedGaussian and Cosine against theta functions at 40 digits, and against hand-computed values."""

from datetime import timedelta
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.errors import InputError
from rota.kernels import Cosine, WrappedGaussian

DAY = 86_400.0
WIDTHS = [1e-4, 1e-3, 0.01, 2 / 24, 0.2, 0.399, 0.401, 0.6, 1, 3, 10]  # in periods; both ways of summing


def wrapped(lag: float, period: float, width: float) -> mpmath.mpf:
    """Gaussians at every multiple of the period, summed plainly and scaled to 1 at lag 0."""
    with mpmath.workdps(40):
        turn, ratio = mpmath.mpf(lag) / mpmath.mpf(period), mpmath.mpf(width) / mpmath.mpf(period)
        turn -= mpmath.nint(turn)
        images = range(-int(10 * ratio) - 2, int(10 * ratio) + 3)
        return sum(mpmath.exp(-(((turn + m) / ratio) ** 2) / 2) for m in images) / sum(
            mpmath.exp(-((m / ratio) ** 2) / 2) for m in images
        )


@pytest.mark.parametrize("width", WIDTHS)
def test_value_against_the_plain_sum(width: float) -> None:
    rng = np.random.default_rng(0)
    near = rng.normal(0, min(width, 1) * DAY, 12)
    lags = np.concatenate([near, DAY + near, -7 * DAY + near, rng.uniform(-1e9, 1e9, 8), [DAY / 2]])
    kernel = WrappedGaussian(DAY, width * DAY)
    exact = [float(wrapped(lag, DAY, width * DAY)) for lag in lags]
    np.testing.assert_allclose(kernel(lags), exact, rtol=0, atol=1e-12)


@pytest.mark.parametrize("width", WIDTHS)
def test_mass_against_the_theta_function(width: float) -> None:
    law = WrappedGaussian(DAY, width * DAY).spectrum()
    with mpmath.workdps(40):
        sigma_star = 1 / (2 * mpmath.pi * mpmath.mpf(width * DAY) / mpmath.mpf(DAY))
        # The sum of exp(-k^2 / 2 sigma*^2); Jacobi's identity gives it for narrow widths, where q is near 1.
        total = (
            sigma_star * mpmath.sqrt(2 * mpmath.pi)
            if width < 0.01
            else mpmath.jtheta(3, 0, mpmath.exp(-1 / (2 * sigma_star**2)))
        )
        for k in {0, 1, -1, 2, 5, -11, 300, *law.harmonics[:: 1 + len(law.harmonics) // 20].tolist()}:
            exact = mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * sigma_star**2)) / total
            assert float(law.pmf(k)) == pytest.approx(float(exact), abs=1e-12)
    assert law.masses.sum() == pytest.approx(1, abs=1e-12)
    assert law.period == DAY


def test_the_papers_setting() -> None:
    law = WrappedGaussian("24h", "2h").spectrum()
    sigma_star = 24 / (2 * np.pi * 2)
    assert law.spread == pytest.approx(sigma_star, rel=1e-12)
    cut = law.truncate()
    np.testing.assert_array_equal(cut.harmonics, np.arange(-6, 7))  # ceil(3 sigma*) = ceil(5.73)
    weights = np.exp(-(np.arange(-6, 7) ** 2) / (2 * sigma_star**2))
    np.testing.assert_allclose(cut.masses, weights / weights.sum(), rtol=1e-14)
    assert cut.mass_cut == pytest.approx(1 - weights.sum() / (sigma_star * np.sqrt(2 * np.pi)), abs=1e-12)
    assert cut.mass_cut == pytest.approx(5.8e-4, abs=1e-5)
    folded = cut.fold()
    assert folded.pmf(0) == pytest.approx(0.2090, abs=5e-5)
    np.testing.assert_allclose(folded.pmf(np.arange(1, 7)), 2 * cut.pmf(np.arange(1, 7)), rtol=1e-15)
    np.testing.assert_array_equal(folded.pmf([-1, 7]), 0)
    assert folded.mass_cut == cut.mass_cut


@pytest.mark.parametrize(("width", "kept"), [("1h", 0.912), ("2h", 0.9994)])
def test_mass_that_six_harmonics_keep(width: str, kept: float) -> None:
    cut = WrappedGaussian("24h", width).spectrum().truncate(6)
    assert 1 - cut.mass_cut == pytest.approx(kept, abs=5e-4)
    assert cut.masses.sum() == pytest.approx(1, abs=1e-15)


@settings(deadline=None)
@given(width=st.floats(0.02, 20), period=st.floats(60, 1e7))
def test_profile_falls_to_half_a_period_and_rises_again(width: float, period: float) -> None:
    values = WrappedGaussian(period, width * period / 24)(np.linspace(0, 1, 25) * period)
    assert all(left >= right - 1e-12 for left, right in pairwise(values[:13]))
    np.testing.assert_allclose(values, values[::-1], rtol=0, atol=1e-9)


def test_cosine() -> None:
    kernel = Cosine("24h")
    lags = np.array([0, 1, 3600, 43_200, 86_399, 10**9, -(10**9) - 7])
    with mpmath.workdps(40):
        exact = [float(mpmath.cos(2 * mpmath.pi * int(lag) / 86_400)) for lag in lags]
    np.testing.assert_allclose(kernel(lags), exact, rtol=0, atol=1e-12)
    assert kernel(43_200) == -1
    law = kernel.spectrum()
    np.testing.assert_array_equal(law.pmf([-2, -1, 0, 1, 2]), [0, 0.5, 0, 0.5, 0])
    np.testing.assert_array_equal(law.fold().pmf([-1, 0, 1]), [0, 0, 1])
    assert law.truncate().mass_cut == 0


@pytest.mark.parametrize("day", ["24h", "1d", 86_400, 86_400.0, timedelta(days=1)])
def test_durations_are_read_alike(day: str | float | timedelta) -> None:
    assert WrappedGaussian(day, "2h") == WrappedGaussian("24h", 7200.0)
    assert Cosine(day) == Cosine(period="24h")


@pytest.mark.parametrize("wrong", ["", "day", 0, -1, float("nan"), float("inf"), "0h"])
def test_bad_durations_are_refused(wrong: str | float) -> None:
    for make in (Cosine, lambda w: WrappedGaussian(w, "2h"), lambda w: WrappedGaussian("24h", w)):
        with pytest.raises(InputError, match="duration") as caught:
            make(wrong)
        assert "\n" not in str(caught.value)


def test_a_width_that_is_no_routine_is_refused_by_its_law() -> None:
    with pytest.raises(InputError, match=r"wrapped_gaussian\(365d, 1s\) has .* harmonics: .* at least 1e-05"):
        WrappedGaussian("365d", "1s").spectrum()
    WrappedGaussian("24h", "1s").spectrum()  # 1.2e-5 of the period
