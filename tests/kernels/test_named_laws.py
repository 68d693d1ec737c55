"""Every named law against mpmath: density, tail, quantile, profile, and what folding adds."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from rota.errors import InputError
from rota.kernels import Constant, Gaussian, Kernel, Laplace, Matern, Triangle

Real = Callable[[mpf], mpf]
WIDTHS = [1.0, 8.64, 7200.0, 86_400.0, 864_000.0, 36_525 * 86_400.0]  # seconds: to a hundred years


@dataclass(frozen=True)
class Exact:
    """A profile f(x) and its law in units of the width: x = lag / width, u = frequency width, u >= 0."""

    make: Callable[[float], Kernel]
    profile: Real
    pdf: Real
    tail: Real  # probability below -u


def student(degrees: int) -> tuple[Real, Real]:
    """Density and tail of t / 2 pi."""
    half = mpf(degrees) / 2
    norm = mpmath.gamma(half + 0.5) / (mpmath.sqrt(degrees * mpmath.pi) * mpmath.gamma(half))
    return (
        lambda u: 2 * mpmath.pi * norm * (1 + (2 * mpmath.pi * u) ** 2 / degrees) ** (-half - 0.5),
        lambda u: (
            mpmath.betainc(half, 0.5, 0, degrees / (degrees + (2 * mpmath.pi * u) ** 2), regularized=True) / 2
        ),
    )


def sinc_tail(u: mpf) -> mpf:
    a = mpmath.pi * u
    return ((mpmath.sin(a) ** 2 / a if a else 0) + mpmath.pi / 2 - mpmath.si(2 * a)) / mpmath.pi


EXACT = {
    "gaussian": Exact(
        Gaussian,
        lambda x: mpmath.exp(-x * x / 2),
        lambda u: mpmath.sqrt(2 * mpmath.pi) * mpmath.exp(-2 * (mpmath.pi * u) ** 2),
        lambda u: mpmath.erfc(mpmath.sqrt(2) * mpmath.pi * u) / 2,
    ),
    "laplace": Exact(
        Laplace,
        lambda x: mpmath.exp(-abs(x)),
        lambda u: 2 / (1 + (2 * mpmath.pi * u) ** 2),
        lambda u: mpmath.atan2(1, 2 * mpmath.pi * u) / mpmath.pi,
    ),
    "matern-1/2": Exact(lambda w: Matern(w, 0.5), lambda x: mpmath.exp(-abs(x)), *student(1)),
    "matern-3/2": Exact(
        lambda w: Matern(w, 1.5),
        lambda x: (1 + mpmath.sqrt(3) * abs(x)) * mpmath.exp(-mpmath.sqrt(3) * abs(x)),
        *student(3),
    ),
    "matern-5/2": Exact(
        lambda w: Matern(w, 2.5),
        lambda x: (1 + mpmath.sqrt(5) * abs(x) + 5 * x * x / 3) * mpmath.exp(-mpmath.sqrt(5) * abs(x)),
        *student(5),
    ),
    "triangle": Exact(
        Triangle, lambda x: max(mpf(0), 1 - abs(x)), lambda u: mpmath.sincpi(u) ** 2, sinc_tail
    ),
}
each_law = pytest.mark.parametrize("exact", [pytest.param(law, id=name) for name, law in EXACT.items()])
each_width = pytest.mark.parametrize("width", WIDTHS)


def floats(values: Iterable[mpf]) -> np.ndarray:
    return np.array([float(value) for value in values])


@pytest.fixture(autouse=True)
def _digits() -> Iterable[None]:
    with mpmath.workdps(40):
        yield


@each_law
@each_width
def test_density_and_tail(exact: Exact, width: float) -> None:
    law = exact.make(width).spectrum()
    frequencies = (
        np.array([0, 1e-9, 1e-3, 0.04, 0.2, 0.5, 0.99, 1.7, 6.3, 6.4, 31.4, 1234.5, 1e7 / 3]) / width
    )
    u = [mpf(one) * mpf(width) for one in frequencies.tolist()]
    pdf, tail = floats(map(exact.pdf, u)), floats(map(exact.tail, u))
    # Beside 1e-12: what the last bits of the frequency are worth, where sinc turns millions of times.
    slope = floats(one * mpmath.diff(exact.pdf, one) if one else mpf(0) for one in u)
    slack = 1e-12 * pdf + 1e-15 * np.abs(slope) + 1e-300
    assert (np.abs(law.pdf(frequencies) / width - pdf) <= slack).all()
    np.testing.assert_allclose(law.pdf(-frequencies), law.pdf(frequencies), rtol=0)
    np.testing.assert_allclose(law.cdf(-frequencies), tail, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(law.cdf(frequencies), 1 - tail, rtol=1e-15)
    np.testing.assert_allclose(law.fold().cdf(frequencies), 1 - 2 * tail, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(law.mass_at(frequencies), 0)


@each_law
@each_width
def test_quantile(exact: Exact, width: float) -> None:
    law = exact.make(width).spectrum()
    p = np.array([1e-15, 1e-9, 1e-3, 0.013, 0.1, 0.25, 0.3183, 0.45, 0.4999])
    found = law.quantile(p)
    u = [-mpf(one) * mpf(width) for one in found.tolist()]
    # The error of the probability, as an error of the frequency where the density is not 0.
    slack = 1e-12 * (1 + floats(one * exact.pdf(one) for one in u) / p)
    assert (np.abs(floats(map(exact.tail, u)) / p - 1) <= slack).all()
    np.testing.assert_allclose(law.quantile(1 - p)[3:], -found[3:], rtol=1e-11)
    np.testing.assert_allclose(law.fold().quantile(1 - 2 * p[3:]), -found[3:], rtol=1e-11)
    assert law.quantile(0.5) == pytest.approx(0, abs=1e-15 / width)
    assert np.isfinite(law.quantile([0.0, np.nextafter(1, 0)])).all()


@each_law
@each_width
def test_profile(exact: Exact, width: float) -> None:
    kernel = exact.make(width)
    lags = np.array([0, 1e-9, 1e-3, 0.1, 0.7, 0.999, 1, 1.001, 3, 12, 40, 1e3, 1e12]) * width
    wanted = floats(exact.profile(mpf(lag) / mpf(width)) for lag in lags.tolist())
    np.testing.assert_allclose(kernel(lags), wanted, rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(kernel(-lags), kernel(lags))
    np.testing.assert_allclose(kernel.spectrum().characteristic(lags), wanted, rtol=0, atol=1e-12)


def hilbert(profile: Real, x: mpf) -> mpf:
    """``1 / pi`` times the integral of ``(f(x - s) - f(x + s)) / s``: the mean of ``sin(2 pi |xi| lag)``.

    It asks for the profile alone, where the code has formulas that come from the law.
    """
    ends = {mpf(0), x, abs(x - 1), x + 1, x + 8, max(x - 8, mpf(0)), x + 60, max(x - 60, mpf(0))}
    ends |= {x * 10**power for power in range(1, 12) if x * 10**power < 1}
    return mpmath.quad(lambda s: (profile(x - s) - profile(x + s)) / s, sorted(ends)) / mpmath.pi


PLACES = [1e-9, 1e-3, 0.4, 1, 1.3, 2.01, 5, 17, 39, 41, 1e3, 1e12]


@each_law
def test_what_folding_adds(exact: Exact) -> None:
    width = 7200.0
    lags = np.array(PLACES) * width
    with mpmath.workdps(30):
        wanted = floats(hilbert(exact.profile, mpf(lag) / mpf(width)) for lag in lags.tolist())
    odd = exact.make(width).spectrum().fold().characteristic(lags).imag
    np.testing.assert_allclose(odd, wanted, rtol=1e-12, atol=0)
    for other in WIDTHS:
        folded = exact.make(other).spectrum().fold()
        np.testing.assert_allclose(
            folded.characteristic(np.array(PLACES) * other).imag, odd, rtol=1e-9, atol=1e-13
        )
        np.testing.assert_array_equal(folded.characteristic(-lags).imag, -folded.characteristic(lags).imag)
        assert folded.characteristic(0.0) == 1


@pytest.mark.parametrize("x", [1e-300, 1e-30, 39.99999, 40.00001, 708.0, 750.0, 1e100])
def test_conjugate_of_laplace_does_not_overflow(x: float) -> None:
    exact = (mpmath.exp(-mpf(x)) * mpmath.ei(x) + mpmath.exp(mpf(x)) * mpmath.e1(x)) / mpmath.pi
    odd = Laplace(1.0).spectrum().fold().characteristic(x).imag
    assert float(odd) == pytest.approx(float(exact), rel=1e-12)


def test_scales() -> None:
    for kernel, deviation in [
        (Gaussian("1h"), 1.0),
        (Matern("1h", 1.5), math.sqrt(3)),
        (Matern("1h", 2.5), math.sqrt(5 / 3)),
    ]:
        assert kernel.spectrum().scale * 2 * math.pi * 3600 == pytest.approx(deviation, rel=1e-14)
    assert Laplace("1h").spectrum().scale * 2 * math.pi * 3600 == pytest.approx(1, rel=1e-14)
    assert Triangle("1h").spectrum().scale == 1 / 3600


def test_constant() -> None:
    kernel, law = Constant(), Constant().spectrum()
    np.testing.assert_array_equal(kernel([[0, 1e12], [-5, 7]]), np.ones((2, 2)))
    assert kernel(3).dtype == np.float64
    np.testing.assert_array_equal(law.pmf([-1, 0, 1]), [0, 1, 0])
    np.testing.assert_array_equal(law.truncate().masses, [1])
    np.testing.assert_array_equal(law.sample(3, np.random.default_rng(0)), 0)
    assert (law.spread, law.mass_cut, law.quantile(0.3)) == (0, 0, 0)


def test_a_constant_fits_every_period() -> None:
    from rota.kernels import Cosine

    merged = (Constant() * 0.25 + Cosine("7d") * 0.75).spectrum().merged()
    assert merged.period == 7 * 86_400.0
    np.testing.assert_array_equal(merged.pmf([-1, 0, 1]), [0.375, 0.25, 0.375])
    assert (Cosine("7d") * Constant()).spectrum().period == 7 * 86_400.0


@settings(deadline=None, max_examples=15)
@given(width=st.floats(1e-3, 1e12), nu=st.sampled_from([0.5, 1.5, 2.5]), p=st.floats(1e-6, 0.4999))
def test_quantile_undoes_the_cumulative_probability(width: float, nu: float, p: float) -> None:
    for kernel in (Gaussian(width), Laplace(width), Matern(width, nu), Triangle(width)):
        law = kernel.spectrum()
        assert float(law.cdf(law.quantile(p))) == pytest.approx(p, rel=1e-11)
        assert float(law.fold().cdf(law.fold().quantile(p))) == pytest.approx(p, abs=1e-13)


@pytest.mark.parametrize("width", ["2h", 7200, 7200.0, timedelta(hours=2), "120min"])
def test_durations_are_read_alike(width: str | float | timedelta) -> None:
    for make in (Gaussian, Laplace, Triangle, lambda w: Matern(w, 1.5)):
        assert make(width) == make("2h")
        assert make(width).width == 7200.0


@pytest.mark.parametrize("wrong", ["", "hour", 0, -1, float("nan"), float("inf"), "0h"])
def test_bad_durations_are_refused(wrong: str | float) -> None:
    for make in (Gaussian, Laplace, Triangle, lambda w: Matern(w, 1.5)):
        with pytest.raises(InputError, match="duration") as caught:
            make(wrong)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("nu", [1.0, 0.0, -0.5, 3.5, float("nan"), float("inf")])
def test_other_matern_profiles_are_refused(nu: float) -> None:
    with pytest.raises(
        InputError, match=r"nu .* of a matern profile: expected the number 0\.5, 1\.5 or 2\.5"
    ):
        Matern("1h", nu)


def test_matern_of_one_half_is_laplace() -> None:
    lags = np.linspace(-1e5, 1e5, 101)
    np.testing.assert_allclose(Matern("2h", 0.5)(lags), Laplace("2h")(lags), rtol=1e-15)
    assert str(Matern("2h", 0.5)) == "matern(2h, 0.5)"
