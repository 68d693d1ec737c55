"""Mixture, merging and convolution by hand, and against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rota.errors import InputError
from rota.kernels import Cosine, WrappedGaussian
from rota.spectra import Atoms, Density, Lattice, Law, Mixture, convolve

DAY = 86_400.0
DAILY, WEEKLY = Cosine("24h").spectrum(), Cosine("7d").spectrum()


def normal(spread: float) -> Density:
    width = 1 / (2 * np.pi * spread)
    return Density(stats.norm(scale=spread), lambda lag: np.exp(-0.5 * (lag / width) ** 2), spread)


def mixed(*laws: Law, weights: list[float]) -> Mixture:
    return Mixture(laws, np.array(weights))


def test_two_periods_become_one_lattice_of_integers() -> None:
    merged = mixed(DAILY, WEEKLY, weights=[0.7, 0.3]).merged()
    assert isinstance(merged, Lattice)
    assert merged.period == 7 * DAY
    np.testing.assert_array_equal(merged.harmonics, [-7, -1, 1, 7])
    np.testing.assert_allclose(merged.masses, [0.35, 0.15, 0.15, 0.35], rtol=1e-15)


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        (DAY, 36 * 3600.0, 3 * DAY),
        (0.1, 0.25, 0.5),
        (90.5, 60.0, 10_860.0),
        (89_428.3, DAY, 772_660_512_00.0),
    ],
)
def test_least_common_period_of_numbers_as_people_write_them(one: float, other: float, common: float) -> None:
    merged = mixed(Cosine(one).spectrum(), Cosine(other).spectrum(), weights=[0.5, 0.5]).merged()
    assert isinstance(merged, Lattice)
    assert merged.period == common
    np.testing.assert_allclose(np.abs(merged.frequencies).max(), 1 / min(one, other), rtol=1e-15)


def test_a_constant_fits_every_period() -> None:
    still = Lattice(1.0, np.array([0]), np.array([1.0]))
    merged = mixed(still, DAILY, weights=[0.5, 0.5]).merged()
    assert isinstance(merged, Lattice)
    assert merged.period == DAY
    np.testing.assert_allclose(merged.pmf([-1, 0, 1]), [0.25, 0.5, 0.25])
    assert mixed(still, still, weights=[0.5, 0.5]).merged().characteristic(5.0) == 1


def test_periods_without_a_common_multiple_in_reach_become_atoms() -> None:
    merged = mixed(Cosine(np.pi).spectrum(), Cosine(np.e).spectrum(), weights=[0.5, 0.5]).merged()
    assert isinstance(merged, Atoms)
    np.testing.assert_allclose(merged.frequencies, [-1 / np.e, -1 / np.pi, 1 / np.pi, 1 / np.e], rtol=1e-14)


def test_atoms_amid_a_density_by_hand() -> None:
    law = mixed(normal(1.0), Cosine(0.5).spectrum(), weights=[0.6, 0.4])  # atoms of .2 at -2 and 2
    below = 0.6 * stats.norm.cdf(-2)
    np.testing.assert_allclose(
        law.quantile([below / 2, below + 0.001, below + 0.199]), [stats.norm.ppf(below / 1.2), -2, -2]
    )
    assert law.quantile(0.5) == pytest.approx(0, abs=1e-15)
    np.testing.assert_allclose(law.cdf([-2.0, 2.0]), [below + 0.2, 1 - below])
    np.testing.assert_allclose(law.mass_at([-2.0, 2.0, 1.0]), [0.2, 0.2, 0])
    assert law.pdf(0.0) == pytest.approx(0.6 * stats.norm.pdf(0))


def test_truncation_at_one_frequency_reweighs_the_parts() -> None:
    law = mixed(normal(1.0), Cosine(0.5).spectrum(), Cosine(2.0).spectrum(), weights=[0.5, 0.25, 0.25])
    cut = law.truncate_at(1.0)  # the atoms at 2 go, those at 0.5 stay
    inside = 0.5 * (1 - 2 * stats.norm.cdf(-1))
    assert [type(part) for part in cut.laws] == [Density, Lattice]
    np.testing.assert_allclose(cut.weights, np.array([inside, 0.25]) / (inside + 0.25))
    assert cut.mass_cut == pytest.approx(1 - inside - 0.25)


def test_each_part_is_truncated_by_its_own_scale() -> None:
    daily, weekly = WrappedGaussian("24h", "2h").spectrum(), WrappedGaussian("7d", "14h").spectrum()
    merged = mixed(daily, weekly, weights=[0.7, 0.3]).truncate().merged()
    assert isinstance(merged, Lattice)
    assert set(merged.harmonics.tolist()) == {*range(-6, 7), *range(-42, 43, 7)}


def test_a_harmonic_is_that_of_each_part() -> None:
    daily, weekly = WrappedGaussian("24h", "2h").spectrum(), WrappedGaussian("7d", "14h").spectrum()
    law = mixed(daily, weekly, weights=[0.7, 0.3])
    cut = law.truncate(2)
    np.testing.assert_array_equal(cut.merged().harmonics, [-14, -7, -2, -1, 0, 1, 2, 7, 14])
    assert cut.mass_cut == pytest.approx(daily.truncate(2).mass_cut)  # 14 h of a week is 2 h of a day
    wanted = [daily.pmf(0), 0.7 * daily.pmf(1) + 0.3 * weekly.pmf(7), 0.3 * weekly.pmf(1)]
    np.testing.assert_allclose(law.pmf([0, 7, 1]), wanted, rtol=1e-12)
    with pytest.raises(InputError, match="whose parts have no harmonics: use truncate_at"):
        mixed(daily, normal(1e-6), weights=[0.5, 0.5]).truncate(2)
    with pytest.raises(InputError, match="use pdf and mass_at"):
        mixed(daily, normal(1e-6), weights=[0.5, 0.5]).pmf(0)


def test_product_of_cosines_is_their_sum_and_difference() -> None:
    law = convolve(DAILY, WEEKLY)
    assert isinstance(law, Lattice)
    assert law.period == 7 * DAY
    np.testing.assert_array_equal(law.harmonics, [-8, -6, 6, 8])
    np.testing.assert_allclose(law.masses, 0.25)


def test_product_of_gaussians_is_a_gaussian() -> None:
    law = convolve(normal(3.0), normal(4.0))
    x = np.linspace(-30, 30, 301)
    np.testing.assert_allclose(law.cdf(x), stats.norm.cdf(x, scale=5), rtol=0, atol=1e-9)
    np.testing.assert_allclose(law.pdf(x), stats.norm.pdf(x, scale=5), rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        law.quantile([1e-9, 0.1, 0.7]), stats.norm.ppf([1e-9, 0.1, 0.7], scale=5), rtol=1e-8
    )
    assert law.scale == pytest.approx(5)


def test_products_distribute_over_mixtures() -> None:
    one, other = mixed(DAILY, normal(1e-6), weights=[0.4, 0.6]), mixed(WEEKLY, DAILY, weights=[0.5, 0.5])
    law = convolve(one, other)
    assert isinstance(law, Mixture)
    assert len(law.laws) == 4
    lags = np.linspace(0, 1e6, 50)
    np.testing.assert_allclose(
        law.characteristic(lags), one.characteristic(lags) * other.characteristic(lags), rtol=0, atol=1e-12
    )


def test_what_a_truncation_cut_survives_a_product() -> None:
    cut = WrappedGaussian("24h", "2h").spectrum().truncate(3)
    law = convolve(cut, cut)
    assert law.mass_cut == pytest.approx(1 - (1 - cut.mass_cut) ** 2)
    assert law.sup_error == 2 * cut.sup_error


@settings(max_examples=50)
@given(
    periods=st.tuples(st.integers(2, 5000), st.integers(2, 5000)),
    ks=st.tuples(st.integers(1, 50), st.integers(1, 50)),
    weight=st.floats(0.01, 0.99),
)
def test_merging_keeps_the_profile(periods: tuple[int, int], ks: tuple[int, int], weight: float) -> None:
    laws = [
        Lattice(float(period), np.array([-k, k]), np.array([0.5, 0.5]))
        for period, k in zip(periods, ks, strict=True)
    ]
    law = Mixture(laws, np.array([weight, 1 - weight]))
    lags = np.random.default_rng(0).uniform(-1e4, 1e4, 20)
    np.testing.assert_allclose(law.merged().characteristic(lags), law.characteristic(lags), rtol=0, atol=1e-9)
    product = convolve(*laws)
    wanted = laws[0].characteristic(lags) * laws[1].characteristic(lags)
    np.testing.assert_allclose(product.characteristic(lags), wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("laws", "weights", "says"),
    [
        ([], [], "0 laws"),
        ([DAILY], [0.5, 0.5], "1 laws with weights of shape"),
        ([DAILY, WEEKLY], [0.5, 0.6], "sum to 1"),
        ([DAILY, WEEKLY], [1.5, -0.5], "positive numbers"),
        ([normal(1.0), DAILY.fold()], [0.5, 0.5], "all symmetric, or all folded"),
    ],
)
def test_what_is_no_mixture_is_refused(laws: list[Law], weights: list[float], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Mixture(laws, np.array(weights))


def test_what_cannot_be_convolved_is_refused() -> None:
    with pytest.raises(InputError, match="only symmetric laws are convolved"):
        convolve(DAILY.fold(), DAILY)
    with pytest.raises(InputError, match="harmonics: too many together"):
        convolve(WrappedGaussian("24h", "5s").spectrum(), WrappedGaussian("24h", "7s").spectrum())


def test_folded_band_has_the_conjugate_of_its_sinc() -> None:
    """A profile that hardly dies away: its density ends, so the sine is integrated there."""
    band = 1e-4
    law = Density(
        stats.uniform(-band, 2 * band), lambda lag: np.sinc(2 * band * lag), band / np.sqrt(3)
    ).fold()
    lags = np.linspace(-1e6, 1e6, 24)
    angle = 2 * np.pi * band * lags
    np.testing.assert_allclose(law.characteristic(lags).imag, (1 - np.cos(angle)) / angle, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ratio", [1e-4, 0.3, 1.0, 40.0, 1e5])
def test_product_of_laplaces_is_a_laplace(ratio: float) -> None:
    """Heavy tails of any ratio: Cauchy's laws add up to Cauchy's."""

    def cauchy(spread: float) -> Density:
        decay = 2 * np.pi * spread
        return Density(stats.cauchy(scale=spread), lambda lag: np.exp(-decay * np.abs(lag)), spread)

    law, wanted = convolve(cauchy(1.0), cauchy(ratio)), stats.cauchy(scale=1 + ratio)
    p = np.array([1e-12, 1e-6, 0.01, 0.1, 0.3, 0.45])
    np.testing.assert_allclose(law.quantile(p), wanted.ppf(p), rtol=1e-4)
    np.testing.assert_allclose(law.quantile(p[1:]), wanted.ppf(p[1:]), rtol=1e-6)
    x = np.linspace(-300, 300, 601) * (1 + ratio)
    np.testing.assert_allclose(law.cdf(x), wanted.cdf(x), rtol=0, atol=1e-8)


def test_products_of_many_factors_stay_one_density_about_one_lattice() -> None:
    daily = WrappedGaussian("24h", "2h").spectrum()
    law = convolve(convolve(daily, normal(1e-6)), convolve(normal(2e-6), daily))
    assert isinstance(law, Density)
    assert law.made_of is not None
    atoms, density = law.made_of
    assert isinstance(atoms, Lattice)
    assert density.scale == pytest.approx(np.hypot(1e-6, 2e-6))
    np.testing.assert_allclose(atoms.pmf([0, 1]), convolve(daily, daily).pmf([0, 1]))
