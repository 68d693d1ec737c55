"""What every kernel owes; a new file in the room needs one line in EXAMPLES and inherits the rest.

A profile that is not positive definite goes to INADMISSIBLE, where it owes its value, its recipe, and a no.
"""

import dataclasses
import math
import pickle
import tomllib
from datetime import timedelta

import mpmath
import numpy as np
import pytest
import tomli_w

from roll_call import roll_call
from rota.errors import InputError
from rota.kernels import (
    Constant,
    Cosine,
    FadingHarmonics,
    FunctionKernel,
    Gaussian,
    Harmonics,
    Kernel,
    Laplace,
    Matern,
    Measured,
    PeriodicGaussian,
    Product,
    Rescaled,
    Smoothness,
    Triangle,
    VonMises,
    WeightedSum,
    WrappedGaussian,
    find_kernel,
    parse_kernel,
)
from rota.kernels.certificate import Verdict, quadratic_form
from rota.spectra import Density, Discrete, Law, Mixture
from rota.tables import from_table, to_table

HOUR, DAY = 3600.0, 86_400.0
DAILY, WEEKLY, FADING = WrappedGaussian("24h", "2h"), Cosine("7d"), Laplace("3d")
APART = Cosine(100_000 * math.pi)  # no multiple of it is one of a day in reach
EXAMPLES: dict[str, list[Kernel]] = {
    "constant": [Constant()],
    "cosine": [Cosine("24h"), Cosine("7d")],
    "fading_harmonics": [FadingHarmonics("10d", [0, 1, 2, 30], [0.2, 0.3, 0.2, 0.3])],
    "function": [FunctionKernel("own_profiles:morning", "24h", Smoothness(4, 5e-15))],
    "gaussian": [Gaussian("2h"), Gaussian("30d")],
    "harmonics": [Harmonics("24h", [0, 1, 3], [0.2, 0.5, 0.3]), Harmonics("7d", [1, 7], [1.0, 3.0])],
    "laplace": [Laplace("2h"), Laplace("30d")],
    "matern": [Matern("2h", 0.5), Matern("2h", 1.5), Matern("1d", 2.5)],
    "measured": [
        Measured(
            Constant() * 0.25
            + Harmonics("24h", [1, 2, 9], [0.2, 0.1, 0.05]) * 0.35
            + Harmonics("7d", [1, 2], [0.1, 0.05]) * 0.15
            + Laplace("16h") * 0.2
            + Laplace("8d") * 0.05
        ),
        Measured(Laplace("16h") * 0.7 + Constant() * 0.3),
        Measured(Harmonics("24h", [0, 1], [0.5, 0.5])),
        Measured(Constant()),
    ],
    "product": [
        Product([DAILY, WEEKLY]),
        Product([DAILY, Gaussian("3d")]),
        Product([FADING, WEEKLY]),
        Product([Gaussian("1d"), Triangle("3d")]),
        Product([APART, WEEKLY]),
        Product([WeightedSum([DAILY, Gaussian("1d")], [2.0, 1.0]), WEEKLY]),
    ],
    "rescaled": [Rescaled(DAILY, 7.0), Rescaled(Matern("2h", 1.5), 0.3), Rescaled(DAILY + FADING, 2.0)],
    "triangle": [Triangle("2h"), Triangle("3d")],
    "von_mises": [VonMises("24h", 3.65), VonMises("7d", 0.1), VonMises("24h", 400.0)],
    "weighted_sum": [
        WeightedSum([DAILY, WEEKLY], [0.7, 0.3]),
        WeightedSum([DAILY, FADING, Constant()], [0.5, 0.3, 0.2]),
        WeightedSum([Gaussian("2h"), Triangle("30h")], [3.0, 1.0]),
        WeightedSum([DAILY, APART], [1.0, 1.0]),
    ],
    "wrapped_gaussian": [
        WrappedGaussian("24h", "2h"),
        WrappedGaussian("7d", "1h"),
        WrappedGaussian("24h", "15h"),
    ],
}
INADMISSIBLE: dict[str, list[Kernel]] = {
    "periodic_gaussian": [
        PeriodicGaussian("24h", "2h"),
        PeriodicGaussian("7d", "1d"),
        PeriodicGaussian("24h", "1h"),
        PeriodicGaussian("24h", "30h"),
    ],
}


def cases(*shelves: dict[str, list[Kernel]]) -> pytest.MarkDecorator:
    every = [kernel for shelf in shelves for kernels in shelf.values() for kernel in kernels]
    return pytest.mark.parametrize("kernel", [pytest.param(kernel, id=str(kernel)) for kernel in every])


# From under a second to thirty years, both signs.
LAGS = np.concatenate([np.linspace(-2 * DAY, 2 * DAY, 577), [0.25, 1e9, -1e9, 1e9 + 1]])
FEW = np.array([0, -2 * DAY, 0.25, 1800, HOUR, 5 * HOUR, DAY / 2, 0.9 * DAY, DAY, 2 * DAY])


def test_every_kernel_has_an_example() -> None:
    known = {**EXAMPLES, **INADMISSIBLE}
    assert set(roll_call("kernels", Kernel)) == set(known)  # type: ignore[type-abstract]
    for name, kernels in known.items():
        assert all(type(kernel) is find_kernel(name) for kernel in kernels)


@cases(EXAMPLES, INADMISSIBLE)
def test_value(kernel: Kernel) -> None:
    values = kernel(LAGS)
    assert values.dtype == np.float64
    assert values.shape == LAGS.shape
    assert kernel(0) == pytest.approx(1, abs=1e-15)
    assert np.abs(values).max() <= 1 + 1e-15
    np.testing.assert_allclose(kernel(-LAGS), values, rtol=0, atol=1e-12)


@cases(EXAMPLES, INADMISSIBLE)
def test_shapes_and_integers(kernel: Kernel) -> None:
    lags = np.arange(0, 12 * 3600, 3600)
    np.testing.assert_array_equal(kernel(lags), kernel(lags.astype(np.float64)))
    np.testing.assert_array_equal(kernel(lags.reshape(3, 4)), kernel(lags).reshape(3, 4))
    assert kernel(3600).shape == ()
    assert kernel([]).shape == (0,)
    assert float(kernel(3600)) == kernel(lags)[1]


@cases(EXAMPLES, INADMISSIBLE)
def test_a_lag_may_be_a_length_of_time(kernel: Kernel) -> None:
    lags = np.array([0, 3600, -7200])
    expected = kernel(lags)
    for unit, parts in (("s", 1), ("ms", 10**3), ("ns", 10**9)):
        np.testing.assert_array_equal(kernel((lags * parts).astype(f"m8[{unit}]")), expected)
    assert kernel(np.timedelta64(1, "h")) == expected[1]
    assert kernel(timedelta(hours=1)) == expected[1]
    for wrong in ("1h", True, np.timedelta64(1, "Y")):
        with pytest.raises(InputError, match="lags are seconds"):
            kernel(wrong)


@cases(EXAMPLES)
def test_gram_is_positive_semidefinite(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    for spread in (HOUR, DAY, 30 * DAY):
        points = rng.uniform(-spread, spread, 200)
        gram = kernel(points[:, None] - points)
        assert np.linalg.eigvalsh((gram + gram.T) / 2).min() > -1e-11


@cases(EXAMPLES)
def test_certificate_says_yes(kernel: Kernel) -> None:
    certificate = kernel.certificate()
    assert certificate.verdict == Verdict.YES
    assert certificate.witness is None


@cases(EXAMPLES)
def test_law_reproduces_the_kernel(kernel: Kernel) -> None:
    law = kernel.spectrum()
    assert law.is_symmetric
    assert law.mass_cut == 0
    assert law.sup_error <= kernel.certificate().tolerance  # 0 but for a function's own
    assert law.characteristic(0) == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(law.characteristic(LAGS), kernel(LAGS), rtol=0, atol=1e-12)
    # Folding keeps the profile: it is the mean of cosines, which do not see the sign.
    np.testing.assert_allclose(law.fold().characteristic(FEW).real, kernel(FEW), rtol=0, atol=1e-12)


@cases(EXAMPLES)
def test_even_quantiles_have_the_profile(kernel: Kernel) -> None:
    n = 2000
    law = kernel.spectrum().fold()
    frequencies = law.quantile((np.arange(n) + 0.5) / n)
    assert (frequencies >= 0).all()
    assert (np.diff(frequencies) >= 0).all()
    mean = np.exp(2j * np.pi * frequencies * FEW[:, None]).mean(1)
    np.testing.assert_allclose(mean.real, kernel(FEW), rtol=0, atol=1e-2)
    np.testing.assert_allclose(mean.imag, law.characteristic(FEW).imag, rtol=0, atol=1e-2)


@cases(EXAMPLES)
def test_mass_is_one(kernel: Kernel) -> None:
    law = kernel.spectrum()
    far = 1e6 * max(law.scale, 1 / DAY)
    assert float(law.cdf(far) - law.cdf(-far)) == pytest.approx(1, abs=1e-6)
    assert float(law.fold().cdf(far)) == pytest.approx(1, abs=1e-6)
    middle = float(law.cdf(0.0)) - 0.5 * float(law.mass_at(0.0))
    assert middle == pytest.approx(0.5, abs=1e-13)


@cases(EXAMPLES)
def test_integrals_of_the_law_give_the_profile_and_what_folding_adds(kernel: Kernel) -> None:
    law = kernel.spectrum()
    mean = integrated(law, FEW)
    np.testing.assert_allclose(mean.real, kernel(FEW), rtol=0, atol=3e-5)  # tables of products that ripple
    np.testing.assert_allclose(
        mean.imag, law.fold().characteristic(FEW).imag, rtol=0, atol=3e-5
    )  # tables of products that ripple


def integrated(law: Law, lags: np.ndarray) -> np.ndarray:
    """Mean of ``exp(2j pi |xi| lag)``, plainly: a sum over atoms, nodes over a density, and its far tail.

    Panels are narrow where a law may have narrow peaks, up to 20 scales; then one a cycle, up to 1000.
    """
    if isinstance(law, Discrete):
        return np.exp(2j * np.pi * np.multiply.outer(lags, np.abs(law.frequencies))) @ law.masses
    if isinstance(law, Mixture):
        return sum(w * integrated(part, lags) for w, part in zip(law.weights, law.laws, strict=True))
    assert isinstance(law, Density)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    end = 1000 * law.scale
    cycles = math.ceil(np.abs(lags).max() * law.scale)  # in a scale; one panel for each
    edges = (
        np.concatenate([np.linspace(0, 20, 3001)[:-1], np.linspace(20, 1000, 980 * cycles + 1)]) * law.scale
    )
    half = np.diff(edges) / 2
    at = (edges[:-1, None] + half[:, None] * (nodes + 1)).ravel()
    mass = 2 * law.pdf(at) * (half[:, None] * weights).ravel()
    values = np.array([np.exp(2j * np.pi * at * lag) @ mass for lag in lags])
    # Heavy tails fall as 1 / x^2, and the integral of that is an exponential integral.
    turning = 2 * np.pi * lags * end
    tail = [complex(mpmath.expint(2, -1j * one)) if one else 1.0 for one in turning.tolist()]
    return values + 2 * float(law.cdf(-end)) * np.array(tail)


@pytest.mark.parametrize("fold", [False, True])
@cases(EXAMPLES)
def test_draws_of_the_law_average_to_the_kernel(kernel: Kernel, fold: bool) -> None:
    n, lags = 2500, np.linspace(0, 2 * DAY, 97)
    law = kernel.spectrum().fold() if fold else kernel.spectrum()
    drawn = law.sample(n, np.random.default_rng(7))
    assert drawn.shape == (n,)
    assert drawn.dtype == np.float64
    assert (drawn.min() >= 0) == (fold or not drawn.any())
    mean = np.cos(2 * np.pi * drawn * lags[:, None]).mean(1)
    assert np.abs(mean - kernel(lags)).max() < 5 / np.sqrt(n)
    np.testing.assert_array_equal(
        law.sample(50, np.random.default_rng(3)), law.sample(50, np.random.default_rng(3))
    )


@cases(EXAMPLES, INADMISSIBLE)
def test_kernel_is_a_recipe(kernel: Kernel) -> None:
    text = tomli_w.dumps(to_table(kernel))
    assert from_table(tomllib.loads(text), Kernel) == kernel  # type: ignore[type-abstract]
    assert parse_kernel(str(kernel), functions=True) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(dataclasses.replace(kernel)) == hash(kernel)
    fields = [field.name for field in dataclasses.fields(kernel)]  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(kernel, (fields or ["anything"])[0], 1.0)


@cases(EXAMPLES)
def test_law_can_be_sent_to_another_process(kernel: Kernel) -> None:
    law = kernel.spectrum().fold()
    sent = pickle.loads(pickle.dumps(law))
    np.testing.assert_array_equal(sent.characteristic(FEW[:3]), law.characteristic(FEW[:3]))


@cases(EXAMPLES)
def test_what_was_computed_is_not_sent(kernel: Kernel) -> None:
    before = pickle.dumps(kernel)
    kernel.spectrum()
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert len(pickle.dumps(kernel)) == len(before)


@cases(INADMISSIBLE)
def test_inadmissible_kernels_have_no_law_and_say_why(kernel: Kernel) -> None:
    with pytest.raises(InputError, match=r"is not positive definite.*; use ") as caught:
        kernel.spectrum()
    assert "\n" not in str(caught.value)
    certificate = kernel.certificate()
    assert certificate.verdict == Verdict.NO
    assert str(kernel) in certificate.reason
    witness = certificate.witness
    assert witness is not None
    assert witness.value < 0
    if witness.weights is not None:
        assert np.linalg.norm(witness.weights) == pytest.approx(1, rel=1e-12)
        assert quadratic_form(kernel, witness) == pytest.approx(witness.value, abs=1e-13)
