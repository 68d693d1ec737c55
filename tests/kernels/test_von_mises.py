"""VonMises against Bessel functions and its own Fourier integral at 30 digits."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from rota.errors import InputError
from rota.kernels import PeriodicGaussian, VonMises

DAY = 86_400.0
# (T / 2 pi sigma)^2 for widths from 10 to 1e-4 periods, and what lies between.
CONCENTRATIONS = [2.5e-4, 0.01, 0.3, 1.0, 3.65, 14.6, 200.0, 5e3, 2.5e6, 2.5e8]


def mass(k: int, kappa: float) -> mpf:
    """``exp(-kappa) I_k(kappa)``: the series; for sharp peaks the integral over the few points that count."""
    exact = mpf(kappa)
    if kappa <= 5e3:
        return mpmath.besseli(k, exact, maxterms=10**6) * mpmath.exp(-exact)
    points = 20 * int(math.sqrt(kappa)) + 2 * k  # an even grid is exact for so few harmonics
    total, j = mpf(1), 1
    while (fallen := 2 * exact * mpmath.sin(mpmath.pi * j / points) ** 2) < 75:
        total += 2 * mpmath.exp(-fallen) * mpmath.cos(2 * mpmath.pi * mpf(j) * k / points)
        j += 1
    return total / points


@pytest.fixture(autouse=True)
def _digits() -> object:
    with mpmath.workdps(30):
        yield


@pytest.mark.parametrize("kappa", CONCENTRATIONS)
def test_mass(kappa: float) -> None:
    law = VonMises(DAY, kappa).spectrum()
    highest = int(law.harmonics[-1])
    wanted = sorted({0, 1, 2, 5, *np.linspace(0, highest, 9).astype(int).tolist(), highest + 1})
    exact = np.array([float(mass(k, kappa)) for k in wanted])
    np.testing.assert_allclose(law.pmf(wanted), exact, rtol=0, atol=1e-15)
    seen = exact > 1e-14 * exact[0]
    np.testing.assert_allclose(law.pmf(wanted)[seen], exact[seen], rtol=1e-10)
    np.testing.assert_allclose(law.pmf(wanted[:4]), exact[:4], rtol=1e-12)
    np.testing.assert_array_equal(law.masses, law.masses[::-1])
    assert law.masses.sum() == pytest.approx(1, abs=1e-14)
    cumulative = law.cdf(np.array([-1e-9, 0.0]) / DAY)
    np.testing.assert_allclose(cumulative, [(1 - exact[0]) / 2, (1 + exact[0]) / 2], rtol=0, atol=1e-13)
    assert law.quantile(0.5) == 0


@pytest.mark.parametrize("kappa", CONCENTRATIONS)
def test_profile(kappa: float) -> None:
    kernel = VonMises(DAY, kappa)
    rng = np.random.default_rng(0)
    near = rng.normal(0, min(DAY / 3, DAY / math.sqrt(kappa) / 6), 20)
    lags = np.concatenate([near, 7 * DAY + near, rng.uniform(-1e9, 1e9, 9), [0, DAY / 2, 1e-9, -1e-9]])
    exact = [
        float(mpmath.exp(mpf(kappa) * (mpmath.cos(2 * mpmath.pi * mpf(lag) / 86_400) - 1)))
        for lag in lags.tolist()
    ]
    np.testing.assert_allclose(kernel(lags), exact, rtol=0, atol=1e-12)
    if kappa < 1e7:  # beyond, k times the rounding of a turn is more
        np.testing.assert_allclose(kernel.spectrum().characteristic(lags), exact, rtol=0, atol=3e-12)


def test_truncation_goes_by_the_width() -> None:
    for hours, highest in [(1, 12), (2, 6), (6, 2), (24, 1), (240, 1)]:
        law = VonMises(DAY, (24 / (2 * math.pi * hours)) ** 2).spectrum()
        assert law.spread == pytest.approx(24 / (2 * math.pi * hours), rel=1e-14)
        assert law.truncate().harmonics[-1] == highest


def test_nearness_to_the_papers_profile() -> None:
    lags = np.linspace(0, DAY, 2001)
    kernel = VonMises("24h", (24 / (2 * math.pi * 2)) ** 2)
    assert np.abs(kernel(lags) - PeriodicGaussian("24h", "2h")(lags)).max() == pytest.approx(0.026, abs=5e-4)


def test_tiny_concentrations_are_nearly_constant() -> None:
    law = VonMises("24h", 1e-300).spectrum()
    assert law.pmf(0) == 1
    assert law.truncate().pmf(0) == 1
    assert VonMises("24h", 1e-300)(DAY / 2) == 1


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), float("inf")])
def test_bad_concentrations_are_refused(wrong: float) -> None:
    with pytest.raises(InputError, match=r"concentration .*: expected a positive, finite number") as caught:
        VonMises("24h", wrong)
    assert "\n" not in str(caught.value)


def test_a_concentration_that_is_no_routine_is_refused_by_its_law() -> None:
    with pytest.raises(InputError, match=r"von_mises\(24h, .*\) has .* harmonics: .* at most 2\.5e\+08"):
        VonMises("24h", 1e9).spectrum()


def test_bad_periods_are_refused() -> None:
    with pytest.raises(InputError, match="duration 'day'"):
        VonMises("day", 4.0)
