import math

import numpy as np
import pytest

from rota.analysis import ProfileFit
from rota.errors import InputError
from rota.types import Float64Array

DAY = 86_400.0


def cosine(lag: Float64Array) -> Float64Array:
    return np.cos(2 * np.pi * lag / DAY)


def test_realised_profile_is_the_mean_of_cosines() -> None:
    rng = np.random.default_rng(0)
    frequencies = rng.integers(0, 9, (2, 3, 5)) / DAY
    lag = np.array([0.0, 1234.5, DAY / 3, DAY])
    found = ProfileFit("x", cosine, frequencies).realised(lag)
    assert found.shape == (6, 4)
    for layer in range(2):
        for head in range(3):
            for column, at in enumerate(lag):
                by_hand = sum(math.cos(2 * math.pi * f * at) for f in frequencies[layer, head]) / 5
                assert found[3 * layer + head, column] == pytest.approx(by_hand, abs=1e-12)


def test_errors_by_hand() -> None:
    """One head of frequency zero (profile 1), one exact: over whole days cos has RMS sqrt(1/2)."""
    lag = np.arange(1000) / 1000 * DAY
    fit = ProfileFit("x", cosine, np.array([[[0.0, 0.0], [1 / DAY, 1 / DAY]]]))
    np.testing.assert_allclose(fit.rmse(lag).heads, [math.sqrt(1.5), 0.0], atol=1e-12)
    assert fit.rmse(lag).together == pytest.approx(math.sqrt(1.5) / 2)


@pytest.mark.parametrize("shape", [(4,), (2, 4), (1, 2, 0), (1, 1, 1, 1)])
def test_frequencies_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(
        InputError, match=r"frequencies of 'x' have shape .* expected \(layers or draws, heads, pairs\)"
    ):
        ProfileFit("x", cosine, np.zeros(shape))
