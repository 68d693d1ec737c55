"""What every kernel owes; a new file in the room needs one line in EXAMPLES and inherits the rest."""

import dataclasses
import pickle
import tomllib

import numpy as np
import pytest
import tomli_w

from roll_call import roll_call
from rota.kernels import Cosine, Kernel, WrappedGaussian, find_kernel, parse_kernel
from rota.tables import from_table, to_table

HOUR, DAY = 3600.0, 86_400.0
EXAMPLES: dict[str, list[Kernel]] = {
    "cosine": [Cosine("24h"), Cosine("7d")],
    "wrapped_gaussian": [
        WrappedGaussian("24h", "2h"),
        WrappedGaussian("7d", "1h"),
        WrappedGaussian("24h", "15h"),
    ],
}
EVERY = [pytest.param(kernel, id=str(kernel)) for kernels in EXAMPLES.values() for kernel in kernels]
# From under a second to thirty years, both signs.
LAGS = np.concatenate([np.linspace(-2 * DAY, 2 * DAY, 577), [0.25, 1e9, -1e9, 1e9 + 1]])


def test_every_kernel_has_an_example() -> None:
    assert set(roll_call("kernels", Kernel)) == set(EXAMPLES)  # type: ignore[type-abstract]
    for name, kernels in EXAMPLES.items():
        assert all(type(kernel) is find_kernel(name) for kernel in kernels)


@pytest.mark.parametrize("kernel", EVERY)
def test_value(kernel: Kernel) -> None:
    values = kernel(LAGS)
    assert values.dtype == np.float64
    assert values.shape == LAGS.shape
    assert kernel(0) == pytest.approx(1, abs=1e-15)
    assert np.abs(values).max() <= 1 + 1e-15
    np.testing.assert_allclose(kernel(-LAGS), values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kernel", EVERY)
def test_shapes_and_integers(kernel: Kernel) -> None:
    lags = np.arange(0, 12 * 3600, 3600)
    np.testing.assert_array_equal(kernel(lags), kernel(lags.astype(np.float64)))
    np.testing.assert_array_equal(kernel(lags.reshape(3, 4)), kernel(lags).reshape(3, 4))
    assert kernel(3600).shape == ()
    assert kernel([]).shape == (0,)
    assert float(kernel(3600)) == kernel(lags)[1]


@pytest.mark.parametrize("kernel", EVERY)
def test_gram_is_positive_semidefinite(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    for spread in (HOUR, DAY, 30 * DAY):
        points = rng.uniform(-spread, spread, 200)
        gram = kernel(points[:, None] - points)
        assert np.linalg.eigvalsh((gram + gram.T) / 2).min() > -1e-11


@pytest.mark.parametrize("kernel", EVERY)
def test_law_reproduces_the_kernel(kernel: Kernel) -> None:
    law = kernel.spectrum()
    assert law.characteristic(0) == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(law.characteristic(LAGS), kernel(LAGS), rtol=0, atol=1e-12)
    # Folding keeps the profile: it is the mean of cosines, which do not see the sign.
    np.testing.assert_allclose(law.fold().characteristic(LAGS).real, kernel(LAGS), rtol=0, atol=1e-12)


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("kernel", EVERY)
def test_draws_of_the_law_average_to_the_kernel(kernel: Kernel, fold: bool) -> None:
    n, lags = 20_000, np.linspace(0, 2 * DAY, 97)
    law = kernel.spectrum().fold() if fold else kernel.spectrum()
    drawn = law.sample(n, np.random.default_rng(7))
    assert drawn.shape == (n,)
    assert drawn.dtype == np.float64
    assert (drawn.min() >= 0) == fold
    mean = np.cos(2 * np.pi * drawn * lags[:, None]).mean(1)
    assert np.abs(mean - kernel(lags)).max() < 5 / np.sqrt(n)
    np.testing.assert_array_equal(drawn, law.sample(n, np.random.default_rng(7)))


@pytest.mark.parametrize("kernel", EVERY)
def test_kernel_is_a_recipe(kernel: Kernel) -> None:
    text = tomli_w.dumps(to_table(kernel))
    assert from_table(tomllib.loads(text), Kernel) == kernel  # type: ignore[type-abstract]
    assert parse_kernel(str(kernel)) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert hash(dataclasses.replace(kernel)) == hash(kernel)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(kernel, dataclasses.fields(kernel)[0].name, 1.0)  # type: ignore[arg-type]
