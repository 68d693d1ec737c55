"""ClockRoPE of any law: what recurs turns at exact harmonics, what fades at real frequencies."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from rota.encodings import (
    ClockRoPE,
    HarmonicRotation,
    LearnableClock,
    RealRotation,
    RoPE,
    Split,
    SplitRotation,
)
from rota.encodings.base import Rotation
from rota.errors import InputError
from rota.kernels import Constant, Cosine, Gaussian, Harmonics, Kernel, Laplace, Measured, WrappedGaussian
from rota.rotary import rotate_reference
from rota.spectra import Lattice, Mixture
from rota.tables import from_table, to_table

NOW, DAY = 1_700_000_000, 86_400
DAILY = WrappedGaussian("24h", "2h")
MASSES = [0.1, 0.1, 0.1, 0.1, 0.1]  # a flat tail
LAW = Measured(Constant() * 0.25 + Harmonics("24h", [1, 2, 3, 19, 20], MASSES) * 0.5 + Laplace("12h") * 0.25)


def cycles_of(module: Rotation) -> Tensor:
    """Of every pair of every head, in the order of the features."""
    parts = list(module.parts) if isinstance(module, SplitRotation) else [module]
    return torch.cat([part.cycles_per_second for part in parts], -1)  # type: ignore[union-attr]


def test_what_recurs_is_exact_and_what_fades_is_real() -> None:
    module = ClockRoPE([LAW]).build(head_dim=32, num_heads=4, num_kv_heads=2, unit="ms")
    assert isinstance(module, SplitRotation)
    exact, real = module.parts
    assert isinstance(exact, HarmonicRotation)
    assert isinstance(real, RealRotation)
    assert module.widths == [24, 8]  # three quarters of f(0), and one
    assert exact.harmonics.dtype == torch.int64
    assert (exact.periods == DAY * 1000).all()
    assert set(exact.harmonics.unique().tolist()) <= {0, 1, 2, 3, 19, 20}  # none is cut
    assert real.cycles_per_second.shape == (2, 4)


@pytest.mark.parametrize("static", ["keep", "drop"])
def test_against_the_plain_way(static: str) -> None:
    module = ClockRoPE([LAW], static=static).build(head_dim=32, num_heads=2, seed=3)
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(3, 2, 7, 32, generator=generator) for _ in range(2))
    asked, seen = (NOW + torch.randint(-(10**8), 10**8, (3, 7), generator=generator) for _ in range(2))
    rotated = module(q, k, query_time=asked, key_time=seen)
    for x, time, out in zip((q, k), (asked, seen), rotated, strict=True):
        turns = time[:, None, :, None].double() * cycles_of(module)[None, :, None, :]
        torch.testing.assert_close(out.double(), rotate_reference(x, turns % 1), rtol=0, atol=1e-4)


@pytest.mark.parametrize("method", ["nested_lattice", "iid", "paper"])
@pytest.mark.parametrize("fold", [True, False])
def test_the_drawn_profile_is_the_wanted_one(fold: bool, method: str) -> None:
    lags = np.linspace(0, 3 * DAY, 800)
    clock = ClockRoPE([LAW], fold=fold, method=method)
    drawn = [cycles_of(clock.build(head_dim=64, num_heads=8, seed=seed)) for seed in range(6)]
    profile = np.cos(2 * np.pi * np.multiply.outer(lags, torch.cat(drawn).numpy())).mean(axis=(1, 2))
    assert np.sqrt(np.mean((profile - LAW(lags)) ** 2)) < (0.02 if method == "nested_lattice" else 0.04)
    assert (torch.cat(drawn).min() < 0) != fold


def test_dropping_the_level_leaves_what_turns() -> None:
    clock = ClockRoPE([LAW], static="drop")
    law = clock.law(LAW)
    assert isinstance(law, Mixture)
    assert float(law.mass_at(0.0)) == 0
    lags = np.linspace(0, 3 * DAY, 500)
    wanted = (LAW(lags) - 0.25) / 0.75
    np.testing.assert_allclose(law.characteristic(lags).real, wanted, rtol=0, atol=1e-12)
    module = clock.build(head_dim=32, num_heads=4)
    assert (cycles_of(module) != 0).all()
    assert module.widths == [22, 10]  # two thirds of 16 pairs are 10.7, one third 5.3
    assert (cycles_of(ClockRoPE([LAW]).build(head_dim=32, num_heads=4)) == 0).any()
    periodic = ClockRoPE([DAILY], static="drop").law(DAILY)
    assert isinstance(periodic, Lattice)
    assert 0 not in periodic.harmonics
    np.testing.assert_allclose(
        periodic.masses,
        DAILY.spectrum().truncate().fold().masses[1:] / (1 - DAILY.spectrum().truncate().pmf(0)),
    )


@pytest.mark.parametrize(
    ("kernels", "pairs", "dealt"),
    [
        ([LAW], 8, [(True, 6), (False, 2)]),
        ([LAW], 1, [(True, 1)]),
        ([LAW], 2, [(True, 2)]),  # of 1.5 and 0.5 the earlier is rounded up
        ([Constant() * 0.97 + Laplace("2h") * 0.03], 16, [(True, 16)]),  # worth less than half a pair
        ([Laplace("2h")], 8, [(False, 8)]),
        ([Laplace("2h") * 0.5 + Gaussian("9d") * 0.5], 8, [(False, 8)]),
        ([Laplace("2h"), DAILY], 8, [(True, 4), (False, 4)]),
        ([LAW, DAILY], 16, [(True, 6), (True, 8), (False, 2)]),
        ([DAILY * 0.5 + Cosine(1000 * math.pi) * 0.5], 8, [(True, 4), (True, 4)]),  # no common multiple
        ([DAILY * Laplace("30d")], 8, [(False, 8)]),
    ],
    ids=str,
)
def test_pairs_are_dealt_by_shares_of_f(
    kernels: list[Kernel], pairs: int, dealt: list[tuple[bool, int]]
) -> None:
    assert [(shard.exact, shard.pairs) for shard in ClockRoPE(kernels).shards(pairs)] == dealt


def test_two_periods_without_a_common_multiple_each_keep_their_own() -> None:
    both = Cosine("24h") * 0.5 + Cosine("84.3h") * 0.5  # these have one
    assert len(ClockRoPE([both]).shards(8)) == 1
    apart = Measured(Harmonics("24h", [1], [1.0]) * 0.5 + Harmonics(100_003.0, [1], [1.0]) * 0.5)
    module = ClockRoPE([apart]).build(head_dim=16, num_heads=1)
    torch.testing.assert_close(
        cycles_of(module).unique(), torch.tensor([1 / 100_003, 1 / DAY], dtype=torch.float64)
    )


def test_the_head_start_of_existing_clocks_is_untouched() -> None:
    """Parts draw from streams by their place: a periodic kernel before another one draws as if alone."""
    alone = ClockRoPE([DAILY]).build(head_dim=16, num_heads=2)
    first = ClockRoPE([DAILY, Laplace("2h")]).build(head_dim=32, num_heads=2)
    assert isinstance(alone, HarmonicRotation)
    assert torch.equal(cycles_of(first)[:, :8], alone.cycles_per_second)


def test_logits_depend_on_differences_of_time_alone() -> None:
    module = Split([RoPE(), ClockRoPE([LAW])]).build(head_dim=64, num_heads=2)
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(2, 2, 20, 64, generator=generator) for _ in range(2))
    time = NOW + torch.randint(-(10**7), 10**7, (2, 20), generator=generator).sort().values

    def logits(time: Tensor) -> Tensor:
        turned_q, turned_k = module(q, k, query_time=time, key_time=time)
        return turned_q @ turned_k.mT / 8

    assert (logits(time + 10**8) - logits(time)).abs().max() < 2e-5


def test_a_recipe_with_a_measured_law_is_a_table() -> None:
    clock = ClockRoPE([LAW], static="drop")
    assert from_table(to_table(clock), ClockRoPE) == clock
    state = clock.build(head_dim=32, num_heads=4, seed=1).state_dict()
    assert {name.rpartition(".")[2] for name in state} == {"harmonics", "periods", "cycles_per_second"}


def test_a_learnable_clock_of_what_fades_is_refused() -> None:
    with pytest.raises(InputError, match="LearnableClock starts from harmonics") as refused:
        LearnableClock(ClockRoPE([LAW])).build(head_dim=16, num_heads=1)
    assert "\n" not in str(refused.value)
