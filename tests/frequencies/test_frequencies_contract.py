"""What every sampling method owes; a new file in the room inherits all of it."""

import numpy as np
import pytest
from laws_drawn import LAWS

from roll_call import roll_call
from rota.frequencies import SamplingMethod, draw
from rota.frequencies.streams import streams
from rota.kernels import Cosine, WrappedGaussian
from rota.spectra import Lattice

METHODS = roll_call("frequencies", SamplingMethod)  # type: ignore[type-abstract]
EVERY = [pytest.param(name, id=name) for name in METHODS]
LAW = WrappedGaussian("24h", "2h").spectrum().truncate()
LOPSIDED = Lattice(3600.0, np.array([-2, 0, 1, 2]), np.array([0.1, 0.2, 0.4, 0.3]))


def test_the_room_holds_what_the_papers_and_we_use() -> None:
    assert {"iid", "systematic", "nested_lattice", "stratified", "sobol"} <= set(METHODS)


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize(("pairs", "heads"), [(1, 1), (8, 4), (5, 3), (64, 2)])
def test_numbers_are_in_the_unit_interval(method: str, pairs: int, heads: int) -> None:
    for seed in range(50):
        numbers = METHODS[method]().uniforms(pairs, heads, streams(seed, 0, ()))
        assert numbers.shape == (heads, pairs)
        assert numbers.dtype == np.float64
        assert numbers.min() >= 0
        assert numbers.max() < 1


@pytest.mark.parametrize("method", EVERY)
def test_each_number_is_uniform_on_its_own(method: str) -> None:
    draws = np.array([METHODS[method]().uniforms(4, 3, streams(seed, 0, ())) for seed in range(300)])
    for quantile in (0.1, 0.25, 0.5, 0.9):
        share = (draws < quantile).mean(0)  # one for each place, so order within a head is random too
        assert np.abs(share - quantile).max() < 5 * np.sqrt(quantile * (1 - quantile) / len(draws))


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("law", [LAW, LOPSIDED], ids=["symmetric", "lopsided"])
def test_frequencies_have_the_law(method: str, law: Lattice) -> None:
    draws = np.stack([draw(law, 16, 3, seed, method=method).harmonics for seed in range(100)])
    for k in range(-6, 7):
        mass = float(law.pmf(k))
        share = float((draws == k).mean())
        assert abs(share - mass) < 5 * np.sqrt(mass * (1 - mass) / draws.size) + 1e-9


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("name", LAWS)
def test_frequencies_of_any_law_have_it(method: str, name: str) -> None:
    law = LAWS[name]
    draws = np.stack([draw(law, 64, 3, seed, method=method).cycles_per_second for seed in range(15)])
    assert np.isfinite(draws).all()
    for at in law.quantile(np.array([0.05, 0.3, 0.5, 0.7, 0.95])):
        below = float(law.cdf(np.array([at]))[0])
        share = float((draws <= at).mean())
        assert abs(share - below) < 5 * np.sqrt(below * (1 - below) / draws.size) + 1e-9


@pytest.mark.parametrize("method", EVERY)
def test_a_draw_is_a_function_of_seed_layer_head(method: str) -> None:
    first = draw(LAW, 16, 4, seed=3, layer=2, method=method)
    np.random.seed(1)  # noqa: NPY002 - the global generator must not matter
    again = draw(LAW, 16, 4, seed=3, layer=2, method=method)
    np.testing.assert_array_equal(first.harmonics, again.harmonics)
    for seed, layer, path in ((4, 2, ()), (3, 1, ()), (3, 2, (1,))):
        other = draw(LAW, 16, 4, seed, layer, method, path=path)
        assert all(
            np.any(one != two) for one, two in zip(first.harmonics, other.harmonics, strict=True)
        ), (seed, layer, path)  # fmt: skip
    assert len({tuple(head) for head in first.harmonics.tolist()}) == 4


@pytest.mark.parametrize("method", EVERY)
def test_a_draw_keeps_integers_beside_frequencies(method: str) -> None:
    drawn = draw(LAW, pairs=32, heads=8, seed=0, layer=0, method=method)
    assert drawn.cycles_per_second.shape == drawn.harmonics.shape == (8, 32)
    assert drawn.cycles_per_second.dtype == np.float64
    assert drawn.harmonics.dtype == np.int64
    assert isinstance(drawn.period, np.int64)
    assert drawn.period == 86_400
    np.testing.assert_array_equal(drawn.cycles_per_second, drawn.harmonics / 86_400)
    assert drawn.harmonics.min() < 0 < drawn.harmonics.max()
    folded = draw(LAW.fold(), 32, 8, 0, method=method)
    np.testing.assert_array_equal(folded.harmonics, np.abs(drawn.harmonics))  # signs have coins of their own
    assert (np.abs(draw(Cosine("7d").spectrum(), 8, 2, 0, method=method).harmonics) == 1).all()
