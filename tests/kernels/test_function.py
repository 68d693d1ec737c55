"""Laws of any callable: against kernels whose law is known, and bounds against the true error."""

import dataclasses
import math
import pickle
import tomllib
from collections.abc import Callable
from functools import cache

import numpy as np
import own_profiles
import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.errors import InputError
from rota.kernels import (
    FunctionKernel,
    Gaussian,
    Harmonics,
    Kernel,
    Laplace,
    Matern,
    Smoothness,
    TailDecay,
    Triangle,
    VonMises,
    WrappedGaussian,
    from_function,
    parse_kernel,
)
from rota.spectra import Density, Lattice
from rota.tables import from_table, to_table

HOUR, DAY = 3600.0, 86_400.0


@pytest.mark.parametrize(
    ("known", "error"),
    [
        (WrappedGaussian("24h", "2h"), 1e-13),
        (WrappedGaussian("7d", "1h"), 1e-13),
        (VonMises("24h", 3.65), 1e-13),
        (Harmonics("24h", [0, 1, 40], [0.2, 0.5, 0.3]), 1e-12),
    ],
    ids=str,
)
def test_periodic_law_is_the_known_one(known: Kernel, error: float) -> None:
    kernel = from_function(lambda lag: known(lag), known.period)  # type: ignore[attr-defined]
    law, exact = kernel.spectrum(), known.spectrum()
    assert isinstance(law, Lattice)
    assert isinstance(exact, Lattice)
    highest = int(exact.harmonics.max())
    np.testing.assert_allclose(
        law.pmf(np.arange(-highest, highest + 1)), exact.pmf(np.arange(-highest, highest + 1)), atol=error
    )
    assert kernel.inversion().error < error
    assert law.sup_error == kernel.inversion().error
    assert law.is_symmetric


@pytest.mark.parametrize(
    ("known", "error"),
    [
        (Gaussian("2h"), 1e-12),
        (Gaussian("30d"), 1e-12),
        (Matern("2h", 2.5), 1e-8),
        (Matern("2h", 1.5), 1e-5),
        (Laplace("3h"), 2e-4),
        (Triangle("5h"), 2e-4),
    ],
    ids=str,
)
def test_law_on_the_line_is_the_known_one(known: Kernel, error: float) -> None:
    kernel = from_function(lambda lag: known(lag))
    law, exact = kernel.spectrum(), known.spectrum()
    assert isinstance(law, Density)
    assert kernel.inversion().error < error
    probabilities = np.linspace(0.03, 0.97, 21)
    # What is missing beyond the highest frequency is in reach of the error, as is a blur of one spline.
    np.testing.assert_allclose(law.cdf(exact.quantile(probabilities)), probabilities, atol=error + 2e-4)
    lags = np.concatenate([[0.0], np.geomspace(1, 1e9, 40)])
    np.testing.assert_allclose(law.characteristic(lags).real, known(lags), atol=1.05 * law.sup_error)
    # The law is the law of its own profile: an even sweep of quantiles, and the fold's sine.
    sweep = law.fold().quantile((np.arange(20_000) + 0.5) / 20_000)
    mean = np.exp(2j * np.pi * sweep * lags[:24, None]).mean(1)
    np.testing.assert_allclose(mean, law.fold().characteristic(lags[:24]), atol=2e-3)


def test_numbers_only_and_arrays_have_one_law() -> None:
    plain = from_function(own_profiles.fading).inversion()
    arrays = from_function(lambda lag: np.exp(-0.5 * (lag / 7200) ** 2)).inversion()
    lags = np.linspace(-DAY, DAY, 101)
    np.testing.assert_allclose(plain.kernel(lags), arrays.kernel(lags), atol=1e-12)


def _column(lag: object) -> np.ndarray:
    return np.cos(np.atleast_1d(np.asarray(lag))[:, None] * np.ones(2)).mean(1) + 0.0


@pytest.mark.parametrize(
    "function",
    [
        math.cos,
        np.cos,
        lambda lag: math.cos(lag),
        lambda lag: [math.cos(one) for one in np.atleast_1d(lag)],
        _column,
        lambda lag: np.float32(math.cos(lag)).astype(np.float64) * 0 + math.cos(lag),
        lambda lag: np.cos(lag.sum()) if isinstance(lag, np.ndarray) else math.cos(lag),
        lambda lag: np.full(lag.shape, 7.0) if isinstance(lag, np.ndarray) else math.cos(lag),
    ],
)
def test_any_way_of_taking_lags(function: Callable[[object], object]) -> None:
    kernel = from_function(function, 2 * np.pi)
    lags = np.linspace(-7, 7, 30).reshape(5, 6)
    values = kernel(lags)
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, np.cos(lags), atol=1e-15)
    assert kernel(1).shape == ()
    assert kernel([]).shape == (0,)
    assert kernel(np.arange(3)).shape == (3,)


def test_what_a_function_is_given_is_its_own() -> None:
    def vandal(lag: np.ndarray) -> np.ndarray:
        lag *= 0
        return np.cos(lag)

    lags = np.arange(3.0)
    from_function(vandal)(lags)
    np.testing.assert_array_equal(lags, np.arange(3.0))


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda lag: 1 / (lag - 3600.0) if isinstance(lag, float) else lag[5], "raises at a lag of 3600 s"),
        (lambda lag: 1j, "gives complex128"),
        (lambda lag: "one", "expected one real number"),
        (lambda lag: None, "expected one real number"),
        (lambda lag: [1.0, 2.0], r"shape \(2,\)"),
        ("own_profiles:absent", "no 'absent' in 'own_profiles'"),
        ("own_profiles:NUMBER", "is int: expected what can be called"),
        ("no_such_module_of_anyone:f", "cannot be imported .*expected a module on Python's path"),
        ("own_profiles:1", 'expected "module:name"'),
    ],
)
def test_a_function_that_cannot_be_used(function: str | Callable[[object], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        from_function(function, "24h")(0.0)
    assert "\n" not in str(caught.value)


def test_nothing_is_computed_until_it_is_asked_for() -> None:
    def never(lag: float) -> float:
        raise AssertionError

    from_function(never)
    from_function("no_such_module_of_anyone:f", "24h")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: from_function(np.cos, "24h", tail=TailDecay(2, 1)), "tail beside a period"),
        (lambda: from_function("daily", "24h"), 'expected "module:name"'),
        (lambda: from_function(np.cos, "soon"), "duration 'soon'"),
        (lambda: Smoothness(0, 1.0), "order 0"),
        (lambda: Smoothness(17, 1.0), "order 17"),
        (lambda: Smoothness(2, math.inf), "bound inf"),
        (lambda: Smoothness(2, -1.0), "bound -1"),
        (lambda: TailDecay(0, 1.0), "tail order 0"),
        (lambda: TailDecay(2, math.nan), "tail bound nan"),
        (lambda: from_function(lambda lag: np.cos(lag / 7)).spectrum(), "does not die away.*give its period"),
        (lambda: from_function(lambda lag: np.where(lag == 0, 1.0, 0.0)).spectrum(), "falls at once"),
        (lambda: from_function(lambda lag: 1 - 2.0 * (lag == 0), "24h").inversion(), None),
    ],
)
def test_what_makes_no_law(make: Callable[[], object], says: str | None) -> None:
    if says is None:
        make()  # a projection of nonsense is a profile still
        return
    with pytest.raises(InputError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_spectrum_of_what_is_not_positive_definite_says_project() -> None:
    box = from_function(lambda lag: np.where(np.abs(lag) < HOUR, 1.0, 0.0))
    with pytest.raises(InputError, match=r"has no law: it has a quadratic form of -.*`project` gives"):
        box.spectrum()
    assert box.inversion().error > 0.1


def test_a_named_function_is_a_recipe() -> None:
    kernel = from_function("own_profiles:morning", "24h", smoothness=Smoothness(2, 1e-8))
    assert str(kernel) == "function(own_profiles:morning, 24h, smoothness(2, 1e-08))"
    assert parse_kernel(str(kernel), functions=True) == kernel
    line = from_function("own_profiles:fading", tail=TailDecay(4, 1e16))
    assert parse_kernel(str(line), functions=True) == line
    kernel.spectrum()
    for one in (kernel, line, from_function("own_profiles:morning", "24h")):
        table = tomllib.loads(tomli_w.dumps(to_table(one)))
        assert from_table(table, Kernel) == one  # type: ignore[type-abstract]
        assert pickle.loads(pickle.dumps(one)) == one
        assert hash(dataclasses.replace(one)) == hash(one)
    np.testing.assert_allclose(kernel(HOUR), own_profiles.morning(np.array(HOUR)))


def test_a_function_object_is_no_recipe() -> None:
    kernel = from_function(own_profiles.morning, "24h")
    assert str(kernel) == "function(own_profiles:morning, 24h)"
    with pytest.raises(InputError, match='cannot be kept in a table: give the function as "module:name"'):
        to_table(kernel)


def test_sums_and_products_take_a_function() -> None:
    daily = from_function("own_profiles:morning", "24h")
    for whole in (daily * 0.5 + WrappedGaussian("7d", "8h") * 0.5, daily * Gaussian("3d"), daily.rescale(7)):
        lags = np.linspace(0, 3 * DAY, 50)
        np.testing.assert_allclose(whole.spectrum().characteristic(lags).real, whole(lags), atol=1e-12)


@cache
def _factorial_bound(order: int) -> float:
    """Most of ``|He_order(x)| exp(-x^2 / 2)``: of a standard Gaussian's derivative."""
    x = np.linspace(-12, 12, 24_001)
    hermite = np.polynomial.hermite_e.HermiteE.basis(order)(x)
    return float(np.abs(hermite * np.exp(-(x**2) / 2)).max()) * 1.001


@settings(max_examples=8)
@given(order=st.integers(2, 9), width=st.floats(60, 1e6), power=st.integers(2, 12))
def test_bound_on_the_line_is_above_the_true_error(order: int, width: float, power: int) -> None:
    smooth = Smoothness(order, _factorial_bound(order) / width**order)
    tail = TailDecay(power, (power / math.e) ** (power / 2) * width**power * 1.001)
    found = from_function(
        lambda lag: np.exp(-0.5 * (lag / width) ** 2), smoothness=smooth, tail=tail
    ).inversion()
    assert found.bound is not None
    rng = np.random.default_rng(order)
    lags = np.concatenate([rng.uniform(0, 6, 40), np.geomspace(1e-3, 1e6, 40)]) * width
    assert np.abs(found.kernel(lags) - np.exp(-0.5 * (lags / width) ** 2)).max() <= found.bound
    assert found.error <= found.bound


def test_bound_covers_what_no_sample_meets() -> None:
    """A bump far away, between all lags that are looked at, which the caller's tail allows for."""
    width, far = 7200.0, 7200.0 * 2.0345e7

    def profile(lag: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * (lag / width) ** 2) + 0.01 * np.exp(-0.5 * ((np.abs(lag) - far) / width) ** 2)

    smooth, tail = Smoothness(4, 3.1 / width**4), TailDecay(1, 0.0101 * far)
    found = from_function(profile, smoothness=smooth, tail=tail).inversion()
    assert found.bound is not None
    assert found.error < 1e-3  # it was not met
    assert found.bound >= abs(float(found.kernel(far)) - 0.01) > 0.009


def test_bound_covers_a_wave_that_hides_between_the_samples() -> None:
    """At its crests at samples and at quarters between, it is met closer by; the smoothness allows for it."""
    highest = 4 * 2**17

    def profile(lag: np.ndarray) -> np.ndarray:
        turn = np.mod(lag, DAY) / DAY
        return 0.99 * np.cos(2 * np.pi * turn) + 0.01 * np.cos(2 * np.pi * np.mod(highest * turn, 1))

    smooth = Smoothness(2, 0.0101 * (2 * np.pi * highest / DAY) ** 2)
    found = from_function(profile, DAY, smoothness=smooth).inversion()
    assert found.bound is not None
    assert found.error == pytest.approx(0.02, abs=1e-6)
    trough = np.array(0.5 * DAY / highest)
    assert found.bound >= abs(float(found.kernel(trough) - profile(trough))) > 0.019


@pytest.mark.parametrize("order", [1, 2])
def test_bound_of_a_rough_profile(order: int) -> None:
    """Tails that decay slowly and kinks: the bound is coarse, and above the error still."""
    width = 7200.0
    profile: Callable[[np.ndarray], np.ndarray] = (
        (lambda lag: np.exp(-np.abs(lag) / width))
        if order == 1
        else (lambda lag: 1 / (1 + (lag / width) ** 2))
    )
    smooth = Smoothness(order, 1 / width if order == 1 else 2 / width**2)
    found = from_function(profile, smoothness=smooth, tail=TailDecay(2, width**2)).inversion()
    assert found.bound is not None
    lags = np.concatenate([np.linspace(0, 3, 301) * 1.37, np.geomspace(1e-3, 1e6, 99)]) * width
    assert np.abs(found.kernel(lags) - profile(lags)).max() <= found.bound
    assert found.bound < 0.01


@settings(max_examples=8)
@given(masses=st.lists(st.floats(0.01, 1), min_size=1, max_size=30), order=st.integers(1, 16))
def test_bound_of_a_periodic_profile_is_above_the_true_error(masses: list[float], order: int) -> None:
    shares = np.array(masses) / sum(masses)
    known = Harmonics("24h", range(len(masses)), masses)
    bound = float(np.sum(shares * (2 * np.pi * np.arange(len(masses)) / DAY) ** order))
    found = from_function(known, "24h", smoothness=Smoothness(order, bound * 1.001)).inversion()
    assert found.bound is not None
    lags = np.random.default_rng(0).uniform(-3 * DAY, 3 * DAY, 200)
    assert np.abs(found.kernel(lags) - known(lags)).max() <= found.bound
    if order > 3:
        assert found.bound < 1e-6


def test_bound_of_a_kinked_periodic_profile() -> None:
    def triangle(lag: np.ndarray) -> np.ndarray:
        return 1 - 4 * np.abs(np.mod(lag + DAY / 2, DAY) - DAY / 2) / DAY

    found = from_function(triangle, "24h", smoothness=Smoothness(1, 4 / DAY)).inversion()
    assert found.bound is not None
    lags = np.linspace(0, DAY, 1013)
    assert np.abs(found.kernel(lags) - triangle(lags)).max() <= found.bound
    assert found.error < found.bound < 1e-3


def test_what_happens_between_the_samples_is_seen() -> None:
    """A wave that is at its crests at every sample is a constant to the samples, and not to the error."""
    highest = 2**17
    kernel = FunctionKernel(lambda lag: np.cos(2 * np.pi * np.mod(highest * lag / DAY, 1)), DAY)
    assert kernel.inversion().error > 1


@pytest.mark.parametrize("order", range(1, 17))
def test_gap_constant_and_spread_of_samples(order: int) -> None:
    """Against a fine grid, the constants of the interpolation that every bound rests on."""
    smooth = Smoothness(order, 1.0)
    nodes = np.arange(order) - (order - 1) // 2
    x = np.linspace(0, 1, 4001) if order % 2 == 0 else np.linspace(-0.5, 0.5, 4001)
    product = np.abs(np.prod(x[:, None] - nodes, axis=1)).max() / math.factorial(order)
    assert product <= smooth.gap_constant() * (1 + 1e-12)
    assert product > 0.3 * smooth.gap_constant()
    lagrange = [
        np.prod([(x - other) / (node - other) for other in nodes if other != node], axis=0) for node in nodes
    ]
    spread = np.abs(np.array([np.broadcast_to(one, x.shape) for one in lagrange])).sum(0).max()
    assert spread <= smooth.spread_of_samples() <= spread + 2e-3
