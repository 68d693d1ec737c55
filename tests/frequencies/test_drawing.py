"""What is special to each way of drawing: even spread, streams that share nothing, pinned draws."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from laws_drawn import DAILY, HOUR, LAWS, WEEKLY

from rota.errors import InputError
from rota.frequencies import (
    IID,
    NestedLattice,
    SamplingMethod,
    Sobol,
    Stratified,
    Systematic,
    draw,
    geometric_bank,
    rope_ladder,
)
from rota.frequencies.streams import coins, streams
from rota.kernels import Cosine, WrappedGaussian
from rota.rooms import find
from rota.types import Float64Array

LAW = WrappedGaussian("24h", "2h").spectrum().truncate().fold()
LAGS = np.arange(0, 86_400, 600)


@pytest.mark.parametrize("seed", range(20))
def test_systematic_is_a_shifted_grid_in_each_head(seed: int) -> None:
    numbers = np.sort(Systematic().uniforms(16, 5, streams(seed, 1, ())), axis=1) * 16
    np.testing.assert_array_equal(np.floor(numbers), np.tile(np.arange(16), (5, 1)))
    np.testing.assert_allclose(numbers - np.arange(16), np.repeat(numbers[:, :1], 16, 1), rtol=0, atol=1e-12)
    assert len(np.unique(numbers[:, 0])) == 5  # every head has a shift of its own


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("heads", [1, 2, 5, 8])
def test_nested_lattice_is_a_shifted_grid_in_each_head_and_over_all(seed: int, heads: int) -> None:
    numbers = NestedLattice().uniforms(16, heads, streams(seed, 1, ()))
    within = np.sort(numbers, axis=1) * 16
    np.testing.assert_allclose(np.diff(within), 1, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.floor(within), np.tile(np.arange(16), (heads, 1)))
    pooled = np.sort(numbers, axis=None) * 16 * heads
    np.testing.assert_array_equal(np.floor(pooled), np.arange(16 * heads))
    np.testing.assert_allclose(np.diff(pooled), 1, rtol=0, atol=1e-10)


def test_order_within_a_head_is_random() -> None:
    for method in (Systematic(), NestedLattice()):
        orders = {tuple(np.argsort(method.uniforms(8, 1, streams(seed, 0, ()))[0])) for seed in range(50)}
        assert len(orders) == 50


def squared_errors(method: str, pairs: int, heads: int, seeds: int) -> tuple[Float64Array, Float64Array]:
    """Mean squared kernel error of each head, and of the mean over heads, for each seed."""
    table = np.cos(2 * np.pi * np.arange(7)[:, None] * LAGS / 86_400)
    wanted = LAW.characteristic(LAGS).real
    single, joint = [], []
    for seed in range(seeds):
        harmonics = draw(LAW, pairs, heads, seed, method=method).harmonics
        profile = table[harmonics].mean(1)
        single.append(((profile - wanted) ** 2).mean(1))
        joint.append(((profile.mean(0) - wanted) ** 2).mean())
    return np.array(single), np.array(joint)


@pytest.mark.parametrize(
    ("pairs", "iid", "even"),
    [(8, 0.238, 0.09), (16, 0.170, 0.05), (32, 0.120, 0.028), (64, 0.085, 0.014)],
)
def test_kernel_error_of_each_method(pairs: int, iid: float, even: float) -> None:
    draws = {"iid": (80, 20), "systematic": (10, 20), "nested_lattice": (4, 50)}  # heads, seeds
    rmse = {name: np.sqrt(squared_errors(name, pairs, *of)[0].mean()) for name, of in draws.items()}
    assert rmse["iid"] == pytest.approx(iid, rel=0.03)
    assert rmse["systematic"] <= even
    assert rmse["nested_lattice"] <= even


def test_nested_lattice_is_even_over_the_heads_of_a_layer() -> None:
    single, joint = squared_errors("nested_lattice", 8, 4, 200)
    assert np.sqrt(single.mean()) <= 0.09
    assert np.sqrt(joint.mean()) <= 0.03
    assert np.sqrt(squared_errors("systematic", 8, 4, 200)[1].mean()) > 0.04  # what nesting is for


def test_iid_is_the_stream_itself() -> None:
    numbers = IID().uniforms(6, 2, streams(11, 4, (2,)))
    for head in range(2):
        sequence = np.random.SeedSequence([11, 4, head], spawn_key=(2,))
        np.testing.assert_array_equal(numbers[head], np.random.default_rng(sequence).random(6))


def test_neighbouring_streams_share_nothing() -> None:
    """Seeds 42 and 43, 12 layers of 8 heads, parts and their coins: seed + layer + head would collide."""
    seen: dict[int, tuple[object, ...]] = {}
    paths: list[tuple[int, ...]] = [(), (0,), (1,), (0, 1), (1, 0)]
    for seed in (42, 43):
        for layer in range(12):
            for path in paths:
                generator = streams(seed, layer, path)
                all_of_them = {head: generator(head) for head in (None, *range(8))}
                all_of_them |= {f"coins {head}": coins(seed, layer, path, head) for head in range(8)}
                for name, rng in all_of_them.items():
                    for word in rng.bit_generator.random_raw(4).tolist():
                        assert word not in seen, (seed, layer, name, path, seen[word])
                        seen[word] = (seed, layer, name, path)
    assert len(seen) == 2 * 12 * 5 * (9 + 8) * 4


@pytest.mark.parametrize("path", [(), (0,), (1, 0)])
def test_signs_are_tossed_by_coins_alone(path: tuple[int, ...]) -> None:
    drawn = draw(Cosine("24h").spectrum(), 64, 3, seed=5, layer=2, path=path)
    tossed = np.stack([coins(5, 2, path, head).random(64) < 0.5 for head in range(3)])
    np.testing.assert_array_equal(drawn.harmonics, np.where(tossed, -1, 1))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("method", [Stratified, Sobol])
def test_every_stratum_of_a_head_has_its_number(method: type[SamplingMethod], seed: int) -> None:
    numbers = np.sort(method().uniforms(16, 4, streams(seed, 1, ())), axis=1) * 16
    np.testing.assert_array_equal(np.floor(numbers), np.tile(np.arange(16), (4, 1)))
    assert len(np.unique(np.round(numbers % 1, 12))) > 60  # not one shift for all, as systematic has


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("heads", [1, 4, 8])
def test_sobol_is_stratified_over_all_heads_of_a_layer(heads: int, seed: int) -> None:
    numbers = np.sort(Sobol().uniforms(16, heads, streams(seed, 1, ())), axis=None) * 16 * heads
    np.testing.assert_array_equal(np.floor(numbers), np.arange(16 * heads))


@pytest.mark.parametrize(("pairs", "heads"), [(1, 1), (1, 3), (12, 5), (33, 1)])
def test_sobol_takes_any_counts(pairs: int, heads: int) -> None:
    """Without scipy's warning about counts that are no power of two; and it stays nearly even."""
    numbers = Sobol().uniforms(pairs, heads, streams(0, 1, ()))
    assert len(np.unique(numbers)) == pairs * heads
    ranks = (np.arange(pairs * heads) + 0.5) / (pairs * heads)
    assert np.abs(np.sort(numbers, axis=None) - ranks).max() < 3 / (pairs * heads) ** 0.75


def test_a_mixture_of_periods_is_drawn_as_their_common_lattice() -> None:
    both = (0.7 * DAILY + 0.3 * WEEKLY).spectrum().truncate()
    drawn, plain = draw(both, 64, 8, 0, 1), draw(both.merged(), 64, 8, 0, 1)
    assert drawn.period == plain.period == 7 * 86_400
    np.testing.assert_array_equal(drawn.harmonics, plain.harmonics)
    np.testing.assert_array_equal(drawn.cycles_per_second, drawn.harmonics / (7 * 86_400))
    assert np.any(drawn.harmonics % 7)
    shared = np.isin(np.abs(drawn.harmonics), np.arange(7) * 7).mean()
    assert shared == pytest.approx(both.fold().mass_at(np.arange(7) / 86_400).sum(), abs=0.01)


@pytest.mark.parametrize("method", ["iid", "nested_lattice", "sobol"])
@pytest.mark.parametrize("name", ["gaussian", "laplace", "atoms", "mixed"])
def test_laws_that_are_no_lattice_have_no_harmonics(name: str, method: str) -> None:
    """Folded quantiles of the same numbers as any law's, with signs of their own."""
    law = LAWS[name]
    drawn, folded = draw(law, 16, 3, 2, 5, method), draw(law.fold(), 16, 3, 2, 5, method)
    assert drawn.harmonics is folded.harmonics is None
    assert drawn.period is folded.period is None
    assert drawn.cycles_per_second.dtype == np.float64
    np.testing.assert_array_equal(np.abs(drawn.cycles_per_second), folded.cycles_per_second)
    assert drawn.cycles_per_second.min() < 0 <= folded.cycles_per_second.min()
    numbers = find("frequencies", method, SamplingMethod)().uniforms(16, 3, streams(2, 5, ()))
    np.testing.assert_array_equal(folded.cycles_per_second, law.fold().quantile(numbers))


def test_pinned_frequencies_of_a_density() -> None:
    """As `PINNED`, to rounding: quantiles of a Gaussian by mpmath, of a head's shifted grid."""
    drawn = draw(LAWS["gaussian"], 4, 2, seed=0, layer=1)
    shift = NestedLattice().uniforms(4, 2, streams(0, 1, ()))
    spread = 1 / (2 * mpmath.pi * 2 * HOUR)
    exact = [[float(mpmath.sqrt(2) * mpmath.erfinv(u) * spread) for u in head] for head in shift.tolist()]
    np.testing.assert_allclose(np.abs(drawn.cycles_per_second), exact, rtol=1e-12)
    np.testing.assert_allclose(drawn.cycles_per_second, PINNED_DENSITY, rtol=1e-12)


PINNED_DENSITY = [
    [-2.9964073396813187e-05, -2.07408448649726e-06, 1.7625422339792047e-05, -9.261069457099048e-06],
    [5.593200483495807e-06, 4.327853620828306e-05, 1.3205295392771573e-05, 2.2898611598815442e-05],
]
PINNED = {
    "iid": [[-3, -1, 2, -4, 0, -1, -2, 0], [3, 1, 1, 3, 1, 4, 2, -1]],
    "systematic": [[-2, -1, 1, -1, 5, -3, 0, 2], [1, 0, 2, 1, 3, 4, 2, -1]],
    "stratified": [[0, -1, 4, -2, 0, -2, -1, 2], [0, 6, 0, 1, 3, 1, 2, -1]],
    "sobol": [[-3, 0, 1, -3, 1, -1, -2, 2], [1, 1, 2, 0, 4, 0, 2, -1]],
    "nested_lattice": [[0, -1, 3, -2, 0, -1, -1, 2], [0, 4, 1, 2, 3, 1, 2, -1]],
}


@pytest.mark.parametrize("method", list(PINNED))
def test_pinned_draws(method: str) -> None:
    """The same on every machine and with every version: a checkpoint's recipe must rebuild its draw."""
    symmetric = WrappedGaussian("24h", "2h").spectrum().truncate()
    drawn = draw(symmetric, 8, 2, seed=0, layer=1, method=method)
    assert drawn.harmonics.tolist() == PINNED[method]
    folded = draw(LAW, 8, 2, seed=0, layer=1, method=method)
    np.testing.assert_array_equal(folded.harmonics, np.abs(PINNED[method]))


def test_rope_ladder() -> None:
    np.testing.assert_allclose(rope_ladder(4) * 2 * np.pi, [1, 0.01], rtol=1e-15)
    np.testing.assert_allclose(rope_ladder(6, base=1000.0) * 2 * np.pi, [1, 0.1, 0.01], rtol=1e-14)
    assert rope_ladder(8).dtype == np.float64


def test_geometric_bank() -> None:
    bank = geometric_bank(64, 1e2, 1e8)
    assert bank[0] == 100
    assert bank[-1] == pytest.approx(1e8)
    np.testing.assert_allclose(bank[1:] / bank[:-1], 1e6 ** (1 / 63), rtol=1e-12)
    np.testing.assert_array_equal(geometric_bank(1, 1e2, 1e8), [100])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: draw(LAW, 0, 1, seed=0), "0 pairs for 1 heads"),
        (lambda: draw(LAW, 1, 0, seed=0), "1 pairs for 0 heads"),
        (lambda: draw(LAW, 1, 1, seed=-1), "seed -1"),
        (lambda: draw(LAW, 1, 1, seed=2**32), "seed 4294967296"),
        (lambda: draw(LAW, 1, 1, seed=0, layer=-1), "layer -1"),
        (
            lambda: draw(LAW, 1, 1, seed=0, method="halton"),
            r"unknown name 'halton' in frequencies: .*\biid\b",
        ),
        (
            lambda: draw(LAW, 1, 1, seed=0, method="geometric"),
            r"method 'geometric' does not draw from a law: expected one of iid, .*`rope_ladder`",
        ),
        (lambda: rope_ladder(8, base=1.0), "base 1.0"),
        (lambda: rope_ladder(8, base=float("nan")), "base nan"),
        (lambda: geometric_bank(4, 0.0, 1e8), "0 < shortest"),
        (lambda: geometric_bank(4, 1e8, 1e2), "shortest <= longest"),
        (lambda: geometric_bank(4, float("nan"), 1e2), "shortest"),
    ],
)
def test_what_cannot_be_drawn_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)


def test_a_period_of_part_seconds_keeps_its_harmonics() -> None:
    """Whether it is whole ticks is for the clock to say, not for the draw."""
    drawn = draw(Cosine(90.5).spectrum().fold(), 2, 1, seed=0)
    assert drawn.harmonics is not None
    assert drawn.period is None
    assert np.allclose(drawn.cycles_per_second, drawn.harmonics / 90.5, rtol=1e-15)
