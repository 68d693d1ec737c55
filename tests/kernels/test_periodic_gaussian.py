"""PeriodicGaussian: the paper's Eq. 17 is not positive definite; its coefficients at hundreds of digits."""

import itertools

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from rota.errors import InputError
from rota.kernels import PeriodicGaussian, WrappedGaussian
from rota.kernels.certificate import Verdict, quadratic_form

HOUR, DAY = 3600.0, 86_400.0
# Width in hours, first harmonic with a negative coefficient, and it: computed apart from this code.
PUBLISHED = [
    (1, 48, -1.7e-34), (1.5, 22, -8.2e-17), (2, 14, -1.7e-10), (2.5, 10, -1.5e-7), (3, 6, -4.4e-6),
    (4, 4, -3.8e-4), (6, 2, -6.5e-3),
]  # fmt: skip
WIDTHS = [0.02, 1 / 24, 1.5 / 24, 2 / 24, 0.125, 0.2, 0.4, 1, 10, 1e6]  # of a period


def coefficient(k: int, period: float, width: float) -> mpf:
    """``1 / T`` times the integral of Eq. 17's product with a cosine, by erf of a complex argument."""
    with mpmath.workdps(400):
        ratio = mpf(width) / mpf(period)
        a, b = 1 / (mpmath.sqrt(8) * ratio), mpmath.sqrt(2) * mpmath.pi * k * ratio
        return mpmath.sqrt(2 * mpmath.pi) * ratio * mpmath.exp(-b * b) * mpmath.erf(mpmath.mpc(a, b)).real


def test_the_formula_against_the_integral() -> None:
    with mpmath.workdps(40):
        for ratio, k in [(0.1, 0), (0.1, 3), (0.125, 6), (1.5, 2), (1.5, 5)]:
            pieces = mpmath.linspace(0, 0.5, 2 * k + 3)
            plain = 2 * mpmath.quad(
                lambda x, ratio=ratio, k=k: (
                    mpmath.exp(-((x / mpf(ratio)) ** 2) / 2) * mpmath.cos(2 * mpmath.pi * k * x)
                ),
                pieces,
            )
            assert abs(plain / coefficient(k, 1.0, ratio) - 1) < mpf(10) ** -25


@pytest.mark.parametrize("ratio", WIDTHS)
def test_coefficients_keep_their_digits(ratio: float) -> None:
    kernel = PeriodicGaussian(DAY, ratio * DAY)
    first, _ = kernel.first_negative()
    harmonics = sorted(
        {0, 1, 2, 3, 7, 20, first - 2, first - 1, first, first + 1, first + 2, 3 * first, 1000}
    )
    exact = [float(coefficient(k, DAY, ratio * DAY)) for k in harmonics]
    np.testing.assert_allclose(kernel.coefficient(harmonics), exact, rtol=1e-12, atol=0)
    np.testing.assert_array_equal(kernel.coefficient(-np.array(harmonics)), kernel.coefficient(harmonics))


@pytest.mark.parametrize("ratio", WIDTHS)
def test_coefficients_against_a_fourier_transform_of_the_profile(ratio: float) -> None:
    kernel, points = PeriodicGaussian(DAY, ratio * DAY), 2**14
    plain = np.fft.rfft(kernel(np.arange(points) * (DAY / points))).real[:50] / points
    # An even grid adds up harmonics that are its size apart; those fall as the kink's 1 / k^2.
    np.testing.assert_allclose(kernel.coefficient(np.arange(50)), plain, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("hours", "harmonic", "value"), PUBLISHED)
def test_published_first_negative_coefficients(hours: float, harmonic: int, value: float) -> None:
    kernel = PeriodicGaussian("24h", hours * HOUR)
    found, least = kernel.first_negative()
    assert found == harmonic
    assert f"{least:.1e}" == f"{value:.1e}"
    assert least == kernel.coefficient(harmonic)
    assert (kernel.coefficient(np.arange(harmonic)) > 0).all()


@settings(deadline=None)
@given(ratio=st.floats(0.0135, 100))
def test_first_negative_is_the_first(ratio: float) -> None:
    kernel = PeriodicGaussian(1.0, ratio)
    k, value = kernel.first_negative()
    assert k % 2 == 0
    assert value < 0
    assert kernel.coefficient(k) == value
    assert (kernel.coefficient(np.arange(k)) >= 0).all()
    assert (kernel.coefficient(np.arange(k, k + 50, 2)) < 0).all()
    assert (kernel.coefficient(np.arange(k + 1, k + 50, 2)) > 0).all()


@pytest.mark.parametrize(("hours", "harmonic", "value"), PUBLISHED)
def test_certificate_says_no_and_shows_it(hours: float, harmonic: int, value: float) -> None:
    kernel = PeriodicGaussian("24h", hours * HOUR)
    certificate = kernel.certificate()
    assert certificate.verdict == Verdict.NO == "no"
    assert f"harmonic {harmonic} is {value:.2g} " in certificate.reason
    assert "\n" not in certificate.reason
    witness = certificate.witness
    assert witness is not None
    if hours < 2:  # no quadratic form in float64 can show these
        assert witness.weights is None
        assert "under what float64 can show" in certificate.reason
        np.testing.assert_array_equal(witness.points, [DAY / 2])
        assert witness.value == kernel.coefficient(harmonic)
        return
    assert witness.weights is not None
    assert np.linalg.norm(witness.weights) == pytest.approx(1, rel=1e-14)
    assert 0 <= witness.points.min() <= witness.points.max() < DAY
    assert quadratic_form(kernel, witness) == witness.value < -1e-12
    # A circulant matrix: its eigenvalue is the number of points times the coefficients that they cannot tell.
    count = len(witness.points)
    aliases = kernel.coefficient(harmonic + count * np.arange(-400, 401)).sum()
    assert witness.value == pytest.approx(count * aliases, rel=1e-3, abs=1e-13)


@pytest.mark.parametrize("ratio", [1e-4, 1e-3, 0.01, 0.0129])
def test_coefficients_too_small_for_float64(ratio: float) -> None:
    kernel = PeriodicGaussian("24h", ratio * DAY)
    k, value = kernel.first_negative()
    with mpmath.workdps(60):
        a = 1 / (mpmath.sqrt(8) * mpf(ratio * DAY) / mpf(DAY))

        def sign(harmonic: int) -> int:
            """Of the coefficient of an even harmonic; Re w by its series for large arguments."""
            b = mpmath.pi * harmonic / (2 * a)
            z = mpmath.mpc(b, a)
            w = 1j / (mpmath.sqrt(mpmath.pi) * z) * (1 + 1 / (2 * z**2) + 3 / (4 * z**4) + 15 / (8 * z**6))
            return 1 if mpmath.exp(a * a - b * b) > w.real else -1

        assert [sign(k - 2), sign(k)] == [1, -1]
    assert value == -5e-324
    certificate = kernel.certificate()
    assert certificate.verdict == "no"
    assert f"harmonic {k} is negative, under 1e-300 in size" in certificate.reason
    assert certificate.witness is not None
    assert certificate.witness.value < 0


def test_no_law_and_the_remedy() -> None:
    with pytest.raises(InputError) as caught:
        PeriodicGaussian("24h", "2h").spectrum()
    said = str(caught.value)
    assert "harmonic 14 is -1.7e-10" in said
    assert "use wrapped_gaussian(24h, 2h), whose law is Eq. 18 exactly, or project it" in said
    assert "\n" not in said


def test_value() -> None:
    kernel = PeriodicGaussian("24h", "2h")
    hours = np.array([0, 2, 6, 12, 18, 22, 24, -2, 26, 24 * 365 + 3])
    apart = np.array([0, 2, 6, 12, 6, 2, 0, 2, 2, 3])
    np.testing.assert_allclose(kernel(hours * HOUR), np.exp(-(apart**2) / 8), rtol=1e-15)
    rng = np.random.default_rng(0)
    lags = np.concatenate([rng.uniform(-1e10, 1e10, 50), rng.normal(0, 1e4, 50), [1e-9, -1e-9]])
    with mpmath.workdps(40):
        turns = [mpf(lag) / 86_400 for lag in lags.tolist()]
        exact = [float(mpmath.exp(-(((t - mpmath.nint(t)) * 12) ** 2) / 2)) for t in turns]
    np.testing.assert_allclose(kernel(lags), exact, rtol=1e-13)


@pytest.mark.parametrize("hours", [1, 1.5, 2, 4, 6])
def test_distance_from_the_wrapped_gaussian(hours: float) -> None:
    lags = np.linspace(0, DAY, 2001)
    plain, wrapped = PeriodicGaussian("24h", hours * HOUR), WrappedGaussian("24h", hours * HOUR)
    apart = np.abs(plain(lags) - wrapped(lags)).max()
    assert apart <= 1.01 * plain(DAY / 2) + 1e-15
    assert apart >= 0.5 * plain(DAY / 2) - 1e-15


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="some harmonics are no integers"):
        PeriodicGaussian("24h", "2h").coefficient([1, 1.5])
    with pytest.raises(InputError, match="at least 1e-07 of the period"):
        PeriodicGaussian("365d", "1s").first_negative()
    for wrong, right in itertools.permutations(["0h", "2h"]):
        with pytest.raises(InputError, match="duration '0h'"):
            PeriodicGaussian(wrong, right)
