"""What every law owes; a new file in the room needs one line in EXAMPLES and inherits the rest."""

import numpy as np
import pytest

from roll_call import roll_call
from rota.kernels import Cosine, WrappedGaussian
from rota.rooms import find
from rota.spectra import Lattice, Law

LOPSIDED = Lattice(3600.0, np.array([-3, 0, 1, 5]), np.array([0.1, 0.2, 0.3, 0.4]))
EXAMPLES: dict[str, list[Law]] = {
    "lattice": [
        WrappedGaussian("24h", "2h").spectrum(),
        WrappedGaussian("24h", "2h").spectrum().truncate().fold(),
        Cosine("7d").spectrum(),
        LOPSIDED,
    ]
}
EVERY = [pytest.param(law, id=f"{name}-{i}") for name, laws in EXAMPLES.items() for i, law in enumerate(laws)]
LAGS = np.concatenate([np.linspace(-90_000, 90_000, 73), [1e9]])


def test_every_law_has_an_example() -> None:
    assert set(roll_call("spectra", Law)) == set(EXAMPLES)  # type: ignore[type-abstract]
    for name, laws in EXAMPLES.items():
        assert all(type(law) is find("spectra", name, Law) for law in laws)  # type: ignore[type-abstract]


@pytest.mark.parametrize("law", EVERY)
def test_characteristic_is_that_of_a_probability(law: Law) -> None:
    values = law.characteristic(LAGS)
    assert values.dtype == np.complex128
    assert values.shape == LAGS.shape
    assert law.characteristic(0) == pytest.approx(1, abs=1e-14)
    assert np.abs(values).max() <= 1 + 1e-14
    np.testing.assert_allclose(law.characteristic(-LAGS), values.conj(), rtol=0, atol=1e-12)
    points = np.random.default_rng(0).uniform(-1e5, 1e5, 100)
    assert np.linalg.eigvalsh(law.characteristic(points[:, None] - points)).min() > -1e-11


@pytest.mark.parametrize("law", EVERY)
def test_draws_have_the_characteristic(law: Law) -> None:
    n = 20_000
    drawn = law.sample(n, np.random.default_rng(3))
    assert drawn.dtype == np.float64
    assert drawn.shape == (n,)
    mean = np.exp(2j * np.pi * drawn * LAGS[:, None]).mean(1)
    assert np.abs((mean - law.characteristic(LAGS)).real).max() < 5 / np.sqrt(n)
    assert np.abs((mean - law.characteristic(LAGS)).imag).max() < 5 / np.sqrt(n)
    np.testing.assert_array_equal(drawn, law.sample(n, np.random.default_rng(3)))


@pytest.mark.parametrize("law", EVERY)
def test_quantile(law: Law) -> None:
    even = (np.arange(20_000) + 0.5) / 20_000
    frequencies = law.quantile(even)
    assert frequencies.shape == even.shape
    assert (np.diff(frequencies) >= 0).all()
    assert np.isfinite(law.quantile([0.0, np.nextafter(1, 0)])).all()
    # An even sweep of probabilities is the law itself.
    mean = np.exp(2j * np.pi * frequencies * LAGS[:, None]).mean(1)
    np.testing.assert_allclose(mean, law.characteristic(LAGS), rtol=0, atol=1e-3)


@pytest.mark.parametrize("law", EVERY)
def test_fold_is_the_law_of_the_absolute_frequency(law: Law) -> None:
    folded = law.fold()
    values = folded.characteristic(LAGS)
    np.testing.assert_allclose(values.real, law.characteristic(LAGS).real, rtol=0, atol=1e-12)
    assert folded.quantile(0.0) >= 0
    np.testing.assert_allclose(folded.fold().characteristic(LAGS), values, rtol=0, atol=1e-14)
    n = 20_000
    mean = np.exp(2j * np.pi * np.abs(law.sample(n, np.random.default_rng(5))) * LAGS[:, None]).mean(1)
    assert np.abs((mean - values).imag).max() < 5 / np.sqrt(n)
