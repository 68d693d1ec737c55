"""What every law owes; a new file in the room needs one line in EXAMPLES and inherits the rest."""

import pickle

import numpy as np
import pytest
from scipy import integrate, stats

from roll_call import roll_call
from rota.errors import InputError
from rota.kernels import Cosine, WrappedGaussian
from rota.rooms import find
from rota.spectra import Atoms, Density, Lattice, Law, Mixture, convolve
from rota.types import Float64Array

HOUR = 3600.0
SPREAD = 1 / (2 * np.pi * 10 * HOUR)


def gaussian(lag: Float64Array) -> Float64Array:
    return np.exp(-0.5 * (lag / (10 * HOUR)) ** 2)


def laplace(lag: Float64Array) -> Float64Array:
    return np.exp(-np.abs(lag) / (10 * HOUR))


NORMAL = Density(stats.norm(scale=SPREAD), gaussian, SPREAD)
CAUCHY = Density(stats.cauchy(scale=SPREAD), laplace, SPREAD)
DAILY = WrappedGaussian("24h", "2h").spectrum()
WEEKLY = WrappedGaussian("7d", "14h").spectrum()
LOPSIDED = Lattice(3600.0, np.array([-3, 0, 1, 5]), np.array([0.1, 0.2, 0.3, 0.4]))
INCOMMENSURATE = Mixture(
    [Cosine(np.pi * HOUR).spectrum(), Cosine(np.e * HOUR).spectrum()], np.array([0.3, 0.7])
)
EXAMPLES: dict[str, list[Law]] = {
    "lattice": [DAILY, DAILY.truncate().fold(), Cosine("7d").spectrum(), LOPSIDED, DAILY.rescale(0.3)],
    "atoms": [
        Atoms(np.array([-3e-5, 0.0, 1e-5, 4e-5]), np.array([0.1, 0.2, 0.3, 0.4])),
        INCOMMENSURATE.merged(),
        INCOMMENSURATE.merged().fold(),
        convolve(Cosine(np.pi * HOUR).spectrum(), Cosine(np.e * HOUR).spectrum()),
    ],
    "density": [
        NORMAL,
        NORMAL.fold(),
        NORMAL.truncate(),
        CAUCHY.rescale(3.0),
        CAUCHY.truncate(6 * SPREAD).fold(),
        convolve(DAILY, NORMAL),
        convolve(NORMAL, CAUCHY),
        convolve(convolve(DAILY, NORMAL), convolve(CAUCHY, DAILY)),
    ],
    "mixture": [
        Mixture([DAILY, WEEKLY], np.array([0.7, 0.3])),
        Mixture([DAILY, NORMAL], np.array([0.4, 0.6])),
        Mixture(
            [Mixture([DAILY, Cosine("7d").spectrum()], np.array([0.5, 0.5])), CAUCHY], np.array([0.8, 0.2])
        ),
        Mixture([NORMAL, CAUCHY.rescale(100.0)], np.array([0.5, 0.5])).truncate_at(2 * SPREAD).rescale(2.0),
        Mixture([LOPSIDED, DAILY], np.array([0.5, 0.5])),
        INCOMMENSURATE.truncate(),
    ],
}
EVERY = [pytest.param(law, id=f"{name}-{i}") for name, laws in EXAMPLES.items() for i, law in enumerate(laws)]
LAGS = np.concatenate([np.linspace(-90_000, 90_000, 31), [1e9]])
EVEN = (np.arange(8000) + 0.5) / 8000


def means(frequencies: Float64Array) -> np.ndarray:
    return np.exp(2j * np.pi * frequencies * LAGS[:, None]).mean(1)


def test_every_law_has_an_example() -> None:
    assert set(roll_call("spectra", Law)) == set(EXAMPLES)  # type: ignore[type-abstract]
    for name, laws in EXAMPLES.items():
        assert all(type(law) is find("spectra", name, Law) for law in laws)  # type: ignore[type-abstract]


@pytest.mark.parametrize("law", EVERY)
def test_characteristic_is_that_of_a_probability(law: Law) -> None:
    values = law.characteristic(LAGS)
    assert values.dtype == np.complex128
    assert values.shape == LAGS.shape
    assert law.characteristic(0).shape == ()
    assert law.characteristic(0) == pytest.approx(1, abs=1e-13)
    assert np.abs(values).max() <= 1 + 1e-13
    np.testing.assert_allclose(law.characteristic(-LAGS), values.conj(), rtol=0, atol=1e-12)
    points = np.random.default_rng(0).uniform(-1e5, 1e5, 12)
    assert np.linalg.eigvalsh(law.characteristic(points[:, None] - points)).min() > -1e-11
    if law.is_symmetric:
        np.testing.assert_allclose(values.imag, 0, atol=1e-13)


@pytest.mark.parametrize("law", EVERY)
def test_draws_have_the_characteristic(law: Law) -> None:
    n = 10_000
    drawn = law.sample(n, np.random.default_rng(3))
    assert drawn.dtype == np.float64
    assert drawn.shape == (n,)
    away = means(drawn) - law.characteristic(LAGS)
    assert np.abs(away.real).max() < 5 / np.sqrt(n)
    assert np.abs(away.imag).max() < 5 / np.sqrt(n)
    np.testing.assert_array_equal(drawn, law.sample(n, np.random.default_rng(3)))
    assert law.is_folded == bool((drawn >= 0).all())


@pytest.mark.parametrize("law", EVERY)
def test_quantile(law: Law) -> None:
    frequencies = law.quantile(EVEN)
    assert frequencies.shape == EVEN.shape
    assert (np.diff(frequencies) >= 0).all()
    assert np.isfinite(law.quantile([0.0, np.nextafter(1, 0)])).all()
    assert law.quantile([[0.3], [0.4]]).shape == (2, 1)
    # It is where the cumulative probability passes: up to the atom there, not before it.
    after, jump = law.cdf(frequencies), law.mass_at(frequencies)
    assert (after >= EVEN - 1e-12).all()
    assert (after - jump <= EVEN + 1e-12).all()
    # An even sweep of probabilities is the law itself; far out on a heavy tail steps are wide.
    np.testing.assert_allclose(means(frequencies)[:-1], law.characteristic(LAGS)[:-1], rtol=0, atol=4e-3)


@pytest.mark.parametrize("law", EVERY)
def test_cumulative_probability_is_the_integral_of_atoms_and_density(law: Law) -> None:
    low, high = law.quantile([0.21, 0.83])
    ends = np.array([low - 1e-9 * abs(low), high + 1e-9 * abs(high)])
    inside = np.unique(law.quantile(np.linspace(0.2, 0.84, 2001)))
    inside = inside[(inside > ends[0]) & (inside <= ends[1])]
    atoms = float(law.mass_at(inside).sum())
    grid = np.linspace(*ends, 4001)
    smooth = integrate.simpson(law.pdf(grid), x=grid)
    assert atoms + smooth == pytest.approx(
        float(np.diff(law.cdf(ends))[0]), abs=1e-4
    )  # small atoms are missed
    assert law.cdf(-1e9) == pytest.approx(0, abs=1e-12)
    assert law.cdf(1e9) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("law", EVERY)
def test_fold_is_the_law_of_the_absolute_frequency(law: Law) -> None:
    folded = law.fold()
    assert folded.is_folded
    values = folded.characteristic(LAGS)
    np.testing.assert_allclose(values.real, law.characteristic(LAGS).real, rtol=0, atol=1e-12)
    assert folded.quantile(0.0) >= 0
    np.testing.assert_allclose(folded.fold().characteristic(LAGS), values, rtol=0, atol=1e-13)
    n = 10_000
    mean = means(np.abs(law.sample(n, np.random.default_rng(5))))
    assert np.abs((mean - values).imag).max() < 5 / np.sqrt(n)
    np.testing.assert_allclose(means(folded.quantile(EVEN))[:-1], values[:-1], rtol=0, atol=4e-3)


@pytest.mark.parametrize("law", EVERY)
def test_negative_share_unfolds(law: Law) -> None:
    absolute = law.fold().quantile(EVEN)
    share = law.negative_share(absolute)
    assert share.min() >= 0
    assert share.max() <= 1
    coins = np.random.default_rng(1).random(absolute.shape)
    signed = np.where(coins < share, -absolute, absolute)
    away = np.abs(means(signed) - law.characteristic(LAGS))
    assert away.max() < 5 / np.sqrt(len(EVEN))


@pytest.mark.parametrize("law", EVERY)
def test_truncation_tells_what_it_did(law: Law) -> None:
    cut = law.truncate()
    np.testing.assert_allclose(cut.characteristic(0), 1, rtol=0, atol=1e-8)  # tables are so exact
    assert 0 <= cut.mass_cut < 1
    assert cut.mass_cut >= law.mass_cut
    lags = np.linspace(-200_000, 200_000, 301)
    change = np.abs((cut.characteristic(lags) - law.characteristic(lags)).real).max()
    assert change <= (cut.sup_error - law.sup_error) * (1 + 1e-9) + 1e-8
    furthest = np.abs(law.quantile([0.0, 1 - 2**-53])).max() * 1.01
    again = cut_at(law, furthest)
    np.testing.assert_allclose(again.characteristic(LAGS), law.characteristic(LAGS), rtol=0, atol=1e-7)
    with pytest.raises(InputError, match="leaves no mass: expected a larger"):
        cut_at(law, -1.0)


def cut_at(law: Law, frequency: float) -> Law:
    if isinstance(law, Mixture):
        return law.truncate_at(frequency)
    return law.truncate(frequency * law.period if isinstance(law, Lattice) else frequency)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, float("nan")])
@pytest.mark.parametrize("law", EVERY)
def test_what_is_no_probability_is_refused(law: Law, wrong: float) -> None:
    with pytest.raises(InputError, match="expected numbers from 0 to 1"):
        law.quantile([0.5, wrong])


@pytest.mark.parametrize("law", EVERY)
def test_rescaling_stretches_the_profile(law: Law) -> None:
    wide = law.rescale(7.0)
    np.testing.assert_allclose(wide.characteristic(7 * LAGS), law.characteristic(LAGS), rtol=0, atol=1e-8)
    np.testing.assert_allclose(wide.quantile(EVEN) * 7, law.quantile(EVEN), rtol=1e-8, atol=0)
    assert wide.scale == pytest.approx(law.scale / 7)
    assert (wide.mass_cut, wide.sup_error) == (law.mass_cut, law.sup_error)


@pytest.mark.parametrize("law", [DAILY, Cosine("7d").spectrum(), LOPSIDED, INCOMMENSURATE])
def test_laws_of_atoms_can_be_pickled(law: Law) -> None:
    again = pickle.loads(pickle.dumps(law))
    np.testing.assert_array_equal(again.quantile(EVEN), law.quantile(EVEN))
