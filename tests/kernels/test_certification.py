"""Certificates: what is positive definite is never refused, what is not has a witness that holds."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.errors import InputError
from rota.kernels import (
    Constant,
    Cosine,
    Gaussian,
    Harmonics,
    Kernel,
    Laplace,
    Matern,
    PeriodicGaussian,
    Smoothness,
    TailDecay,
    Triangle,
    Verdict,
    VonMises,
    WrappedGaussian,
    certify,
    from_function,
)
from rota.kernels.certificate import Certificate, quadratic_form

HOUR, DAY = 3600.0, 86_400.0
ADMISSIBLE: list[Kernel] = [
    Constant(),
    Cosine("24h"),
    Gaussian("2h"),
    Laplace("3d"),
    Matern("2h", 1.5),
    Triangle("5h"),
    VonMises("24h", 3.65),
    WrappedGaussian("24h", "2h"),
    Harmonics("7d", [0, 7], [0.5, 0.5]),
    Cosine("24h") * 0.7 + Laplace("3d") * 0.3,
    WrappedGaussian("24h", "2h") * Gaussian("3d"),
    (Cosine("7d") * Triangle("3d")).rescale(2),
]


def holds(profile: object, certificate: Certificate) -> bool:
    """Whether the witness's form, computed plainly, is negative and the value it says."""
    assert certificate.witness is not None
    form = quadratic_form(profile, certificate.witness)
    assert np.linalg.norm(certificate.witness.weights) == pytest.approx(1)  # type: ignore[arg-type]
    assert form == pytest.approx(certificate.witness.value, rel=1e-3)
    return form < 0


def paper(width: float) -> Callable[[np.ndarray], np.ndarray]:
    """Eq. 17 as anyone would write it, in hours."""
    return lambda lag: np.exp(-0.5 * ((np.mod(lag / HOUR + 12, 24) - 12) / width) ** 2)


@pytest.mark.parametrize("kernel", ADMISSIBLE, ids=str)
def test_yes_to_our_own_and_the_algebra_over_them(kernel: Kernel) -> None:
    found = certify(kernel)
    assert (found.verdict, found.witness, found.tolerance) == ("yes", None, 0)


@pytest.mark.parametrize(
    ("width", "harmonic", "mass"), [(2, 14, -1.7e-10), (2.5, 10, -1.5e-7), (3, 6, -4.4e-6), (6, 2, -6.5e-3)]
)
def test_no_to_the_papers_periodic_gaussian(width: float, harmonic: int, mass: float) -> None:
    found = certify(paper(width), period="24h")
    assert found.verdict == "no"
    assert f"harmonic {harmonic} of 24h" in found.reason
    assert found.witness is not None
    assert found.witness.value / len(found.witness.points) == pytest.approx(mass, rel=0.05)
    assert holds(paper(width), found)
    assert certify(PeriodicGaussian("24h", width * HOUR)).verdict == "no"


def test_what_float64_cannot_see_is_undecided() -> None:
    found = certify(paper(1.5), "24h")  # its first negative mass is -8e-17
    assert found.verdict == "undecided"
    assert found.tolerance < 1e-13


@pytest.mark.parametrize(
    ("profile", "period", "says", "points"),
    [
        (lambda x: np.exp(-(x**2)) * (1 + x / 2), None, "not even", 2),
        (lambda x: np.cos(x) + 0.5 * np.sin(x), 2 * np.pi, "not even", 2),
        (lambda x: np.cos(x) + 0.5 * np.sin(x), None, "not even", 2),
        (lambda x: 2 * np.exp(-np.abs(x)), None, r"f\(0\) = 2", 1),
        (lambda x: np.cos(x) * 0, None, r"f\(0\) = 0", 1),
        (lambda x: np.sin(x) / x, None, "not finite: nan at a lag of 0 s", 1),
        (lambda x: np.where(np.abs(x) > 1e9, np.inf, np.exp(-np.abs(x))), None, "not finite: inf", 1),
        (lambda x: np.cos(2 * np.pi * x / 80_000), "24h", "period is not 24h", 2),
        (lambda x: np.exp(-np.abs(x) / DAY), "24h", "period is not 24h", 2),
    ],
)
def test_no_by_a_value(
    profile: Callable[[np.ndarray], np.ndarray], period: str | float | None, says: str, points: int
) -> None:
    with np.errstate(all="ignore"):
        found = certify(profile, period)
        assert found.verdict == "no"
        assert found.witness is not None
        assert found.witness.weights is None
        assert len(found.witness.points) == points
        values = np.asarray(profile(found.witness.points))
        shown = values[0] - values[1] if points == 2 else values[0]
        assert found.witness.value == pytest.approx(shown, nan_ok=True) or -shown == found.witness.value
    assert re.search(says, found.reason)
    assert "\n" not in found.reason


@pytest.mark.parametrize(
    "profile",
    [
        lambda x: np.where(np.abs(x) < HOUR, 1.0, 0.0),
        lambda x: np.where(np.abs(x) <= 1e-3, 1.0, 0.0),
        lambda x: np.maximum(0, 1 - (x / HOUR) ** 2),
        lambda x: np.maximum(0, 1 - np.abs(x) / DAY) ** 0.5,
        lambda x: np.exp(-((x / HOUR) ** 4)),
        lambda x: np.exp(-0.5 * (x / HOUR) ** 2) * (1 + 0.5 * (x / HOUR) ** 2),
        lambda x: 1.0001 * np.exp(-0.5 * (x / DAY) ** 2) - 0.0001 * np.exp(-0.5 * (x / HOUR / 4) ** 2),
        lambda x: np.exp(-np.abs(x) / DAY) * paper(6)(x),
        lambda x: 1.5 * np.exp(-np.abs(x)) - 0.5 * np.exp(-np.abs(x) / 10),
        lambda x: 1 + x**2 * 1e-30,
    ],
)
def test_no_on_the_line_by_a_witness(profile: Callable[[np.ndarray], np.ndarray]) -> None:
    found = certify(profile)
    assert found.verdict == "no"
    assert holds(profile, found)


@pytest.mark.parametrize("period", ["24h", "7d"])
def test_no_to_a_routine_cut_off(period: str) -> None:
    def open_hours(lag: np.ndarray) -> np.ndarray:
        return np.where(np.abs(np.mod(lag + DAY / 2, DAY) - DAY / 2) < 3 * HOUR, 1.0, 0.0)

    found = certify(open_hours, period)
    assert found.verdict == "no"
    assert holds(open_hours, found)


@settings(max_examples=12)
@given(
    masses=st.lists(st.floats(0, 1), min_size=1, max_size=60).filter(lambda some: sum(some) > 0.01),
    period=st.floats(60, 1e7),
)
def test_a_positive_lattice_is_never_refused(masses: list[float], period: float) -> None:
    shares = np.array(masses) / sum(masses)
    k = np.arange(len(masses))

    def plain(lag: np.ndarray) -> np.ndarray:  # large phases, with the rounding they bring
        return np.cos(2 * np.pi * k * np.asarray(lag)[..., None] / period) @ shares

    found = certify(plain, period)
    assert found.verdict == "undecided"
    assert found.tolerance < 1e-9
    bound = float(shares @ (2 * np.pi * k / period) ** 4) * 1.001
    assert from_function(plain, period, smoothness=Smoothness(4, bound)).certificate().verdict == "yes"


@settings(max_examples=12)
@given(
    masses=st.lists(st.floats(0, 1), min_size=2, max_size=40).filter(lambda some: sum(some) > 0.01),
    negative=st.floats(1e-6, 0.3),
    data=st.data(),
)
def test_a_lattice_with_a_negative_mass_is_refused(
    masses: list[float], negative: float, data: st.DataObject
) -> None:
    shares = np.array(masses) / sum(masses)
    k = data.draw(st.integers(0, len(masses) - 1))
    shares[k] = 0
    shares = np.where(
        np.arange(len(masses)) == k, -negative, shares / max(shares.sum(), 1e-9) * (1 + negative)
    )
    if abs(shares.sum() - 1) > 1e-9:  # all the mass was on k
        return

    def profile(lag: np.ndarray) -> np.ndarray:
        turn = np.mod(np.asarray(lag), DAY) / DAY
        return np.cos(2 * np.pi * np.arange(len(shares)) * turn[..., None]) @ shares

    found = certify(profile, DAY)
    assert found.verdict == "no"
    assert holds(profile, found)


@settings(max_examples=12)
@given(width=st.floats(1e-3, 1e9), drift=st.floats(0, 3))
def test_a_fading_wave_is_never_refused(width: float, drift: float) -> None:
    found = certify(lambda lag: np.exp(-0.5 * (lag / width) ** 2) * np.cos(drift * lag / width))
    assert found.verdict == "undecided"
    assert found.tolerance < 1e-9


@pytest.mark.parametrize("width", [30.0, 7200.0, 1e7])
def test_yes_on_the_line_with_smoothness_and_tail(width: float) -> None:
    smooth, tail = Smoothness(4, 3.001 / width**4), TailDecay(8, 76 * width**8)
    found = from_function(
        lambda lag: np.exp(-0.5 * (lag / width) ** 2), smoothness=smooth, tail=tail
    ).certificate()
    assert found.verdict == "yes"
    assert 0 < found.tolerance < 1e-6
    assert smooth.claim in found.reason
    for half in ({"smoothness": smooth}, {"tail": tail}):
        alone = from_function(lambda lag: np.exp(-0.5 * (lag / width) ** 2), **half)  # type: ignore[arg-type]
        assert alone.certificate().verdict == "undecided"


def test_a_kink_leaves_it_undecided() -> None:
    found = from_function(
        lambda lag: np.exp(-np.abs(lag)), smoothness=Smoothness(1, 1.0), tail=TailDecay(4, 4.7)
    ).certificate()
    assert found.verdict == "undecided"
    assert "the bound reached is 0.00" in found.reason


def test_no_period_where_one_is_needed_is_undecided() -> None:
    found = certify(lambda lag: np.cos(2 * np.pi * lag / DAY))
    assert found.verdict == "undecided"
    assert "give its period" in found.reason
    assert found.tolerance == 2


@pytest.mark.parametrize(
    ("whole", "verdict"),
    [
        (PeriodicGaussian("24h", "6h") * 0.9 + Cosine("24h") * 0.1, "no"),
        (PeriodicGaussian("24h", "6h") * 0.5 + Cosine("12h") * 0.5, "no"),  # harmonics 4, 6, ... are left
        (PeriodicGaussian("24h", "2h") * 0.5 + Constant() * 0.5, "no"),
        (PeriodicGaussian("24h", "6h") * Gaussian("30d"), "no"),
        (PeriodicGaussian("24h", "6h") * Triangle("6h"), "undecided"),  # the kink is out of reach
        (PeriodicGaussian("24h", "6h").rescale(7), "no"),
        (from_function(lambda lag: np.sin(lag) / lag) * Gaussian("2h"), "no"),
        (from_function(paper(2.0), "24h") * 0.5 + WrappedGaussian("24h", "20min") * 0.5, "no"),
    ],
    ids=str,
)
def test_sums_and_products_with_a_part_that_is_not(whole: Kernel, verdict: str) -> None:
    found = certify(whole)
    assert found.verdict == verdict
    if found.witness is not None and found.witness.weights is not None:
        assert holds(whole, found)


def test_a_sum_says_of_a_part_what_is_known() -> None:
    rough, smooth = PeriodicGaussian("24h", "6h"), WrappedGaussian("24h", "6h")
    unknown = from_function(lambda lag: np.exp(-0.5 * (lag / HOUR) ** 2))
    for whole in (rough * 0.5 + smooth * 0.5, unknown * 0.5 + rough * 0.5, rough * Triangle("6h")):
        assert certify(whole).reason.startswith("periodic_gaussian(24h, 6h) is not positive definite, and")
    assert "is not known to be positive definite, and no" in certify(unknown * Gaussian("2h")).reason


def test_a_sum_has_its_parts_tolerance() -> None:
    smooth = from_function(
        lambda lag: np.exp(np.cos(2 * np.pi * lag / DAY) - 1), DAY, smoothness=Smoothness(2, 1e-8)
    )
    part = smooth.certificate()
    assert part.verdict == Verdict.YES
    assert part.tolerance > 0
    whole = certify(smooth * 0.25 + Gaussian("2h") * 0.75)
    assert (whole.verdict, whole.tolerance) == ("yes", 0.25 * part.tolerance)


def test_a_period_beside_a_kernel_is_refused() -> None:
    with pytest.raises(InputError, match=r"a period beside cosine\(24h\)"):
        certify(Cosine("24h"), "24h")
