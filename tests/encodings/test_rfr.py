"""RFR: any profile with a law becomes a rotation, exact where it can be, and right on average."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rota.encodings import RFR, ClockRoPE, HarmonicRotation, RealRotation, Rotation
from rota.errors import InputError
from rota.frequencies import expected_logit
from rota.kernels import (
    Constant,
    Cosine,
    Gaussian,
    Kernel,
    Laplace,
    Matern,
    PeriodicGaussian,
    Triangle,
    VonMises,
    WrappedGaussian,
)
from rota.rotary import lattice_turns_reference, real_turns_reference, rotate_reference

DAILY, WEEKLY = WrappedGaussian("24h", "2h"), WrappedGaussian("7d", "14h")
NOW, HOUR, DAY = 1_700_000_000, 3600, 86_400

EXACT: dict[str, Kernel] = {
    "daily": DAILY,
    "cosine": Cosine("24h"),
    "von mises": VonMises("7d", 2.0),
    "two periods": 0.7 * DAILY + 0.3 * WEEKLY,
    "product of periods": DAILY * WEEKLY,
    "constant": Constant(),
}
REAL: dict[str, Kernel] = {
    "gaussian": Gaussian("3h"),
    "laplace": Laplace("24h"),
    "matern": Matern("8h", 1.5),
    "triangle": Triangle("12h"),
    "fading": DAILY * Laplace("7d"),
    "density beside atoms": 0.6 * DAILY + 0.4 * Gaussian("2d"),
    "no common period": DAILY + Cosine(1000 * math.pi),
    "no whole period": Cosine(90.5),
}


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def times(*shape: int, seed: int = 0) -> Tensor:
    return NOW + torch.randint(-(10**8), 10**8, shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("kernel", EXACT.values(), ids=EXACT)
def test_harmonics_of_whole_periods_are_exact(kernel: Kernel) -> None:
    module = RFR(kernel).build(head_dim=16, num_heads=4)
    assert type(module) is HarmonicRotation
    drawn = lattice_turns_reference(times(5, 1, 1), module.harmonics, module.periods)
    real = real_turns_reference(times(5, 1, 1), module.cycles_per_second)
    assert float(((drawn - real + 0.5) % 1 - 0.5).abs().max()) < 1e-6


@pytest.mark.parametrize("kernel", REAL.values(), ids=REAL)
def test_other_frequencies_are_real_numbers(kernel: Kernel) -> None:
    assert type(RFR(kernel).build(head_dim=16, num_heads=4)) is RealRotation


def test_a_finer_clock_counts_more_periods() -> None:
    half = RFR(Cosine(90.5))
    finer = half.build(head_dim=16, num_heads=4, unit="ms")
    assert type(finer) is HarmonicRotation
    assert set(finer.periods.tolist()) == {90_500}
    years = RFR(WrappedGaussian("365d", "4h"))  # harmonics too high for int64 in ns, which ClockRoPE refuses
    assert type(years.build(head_dim=64, num_heads=4)) is HarmonicRotation
    assert type(years.build(head_dim=64, num_heads=4, unit="ns")) is RealRotation


@pytest.mark.parametrize("kernel", [Gaussian("3h"), Laplace("24h"), REAL["fading"]], ids=str)
@pytest.mark.parametrize(("unit", "ticks"), [("s", 1), ("ms", 1000)])
def test_against_fractions_and_matrices(kernel: Kernel, unit: str, ticks: int) -> None:
    module = RFR(kernel).build(head_dim=8, num_heads=4, num_kv_heads=2, unit=unit)
    asked, seen = times(2, 3) * ticks, times(2, 3, seed=1) * ticks + 1
    q, k = normal(2, 4, 3, 8, dtype=torch.float64), normal(2, 2, 3, 8, seed=1, dtype=torch.float64)
    turned_q, turned_k = module(q, k, query_time=asked, key_time=seen)
    for x, turned, time in ((q, turned_q, asked), (k, turned_k, seen)):
        group = x.shape[1] // 2
        for head in range(x.shape[1]):
            cycles = module.cycles_per_second[head // group]
            turns = real_turns_reference(time[..., None], cycles, ticks)
            wanted = rotate_reference(x[:, head], turns)
            torch.testing.assert_close(turned[:, head], wanted, rtol=0, atol=2e-6)


def logits_by_head(module: Rotation, q: Tensor, k: Tensor, lags: Tensor) -> Tensor:
    """``q.k`` of one q and k in every head, the key ``lag`` before the query; shape ``(lags, heads)``."""
    heads = module.cycles_per_second.shape[0]
    asked = torch.full((len(lags), 1), NOW)
    rows = [x.expand(len(lags), heads, 1, -1) for x in (q, k)]
    turned_q, turned_k = module(*rows, query_time=asked, key_time=asked - lags[:, None])
    return (turned_q * turned_k).sum((2, 3)).double()


@pytest.mark.parametrize("fold", [False, True], ids=["symmetric", "folded"])
@pytest.mark.parametrize("kernel", (EXACT | REAL).values(), ids=EXACT | REAL)
@pytest.mark.parametrize("method", ["iid", "paper"])
def test_mean_over_draws_is_the_profile(kernel: Kernel, fold: bool, method: str) -> None:
    """Prop. 3.1 of the built module: each head is a draw of its own, so 600 heads are 600 draws."""
    heads, pairs = 600, 4
    rfr = RFR(kernel, fold=fold, method=method)
    module = rfr.build(head_dim=2 * pairs, num_heads=heads, seed=1)
    q, k = normal(2 * pairs, seed=2), normal(2 * pairs, seed=3)
    lags = torch.tensor([0, 40, HOUR, 3 * HOUR, -3 * HOUR, 12 * HOUR, 25 * HOUR, -5 * DAY, 60 * DAY])
    found = logits_by_head(module, q, k, lags)
    mean, error = found.mean(1).numpy(), found.std(1).numpy() / math.sqrt(heads)
    wanted = expected_logit(q.numpy(), k.numpy(), lags.numpy(), rfr.law())
    assert (np.abs(mean - wanted) < 4.5 * error + 1e-5).all()
    if not fold:
        np.testing.assert_allclose(wanted, float(q.double() @ k.double()) * kernel(lags.numpy()), atol=1e-6)


@pytest.mark.parametrize("kernel", [Gaussian("3h"), Laplace("24h")], ids=str)
def test_evenly_spread_draws_come_near_the_profile(kernel: Kernel) -> None:
    aligned = torch.tensor([1.0, 0.0]).repeat(32)
    lags = torch.arange(0, 2 * DAY, 1800)
    module = RFR(kernel).build(head_dim=64, num_heads=8)
    profile = logits_by_head(module, aligned, aligned, lags) / 32
    off = profile - torch.from_numpy(kernel(lags.numpy()))[:, None]
    assert float(off.square().mean().sqrt()) < 0.06  # each head; independent draws are off by 0.12
    assert float(off.mean(1).square().mean().sqrt()) < 0.02  # all heads together


@settings(max_examples=25)
@given(
    shift=st.integers(-(10**9), 10**9),
    fold=st.booleans(),
    kernel=st.sampled_from([*REAL.values(), *EXACT.values()]),
    seed=st.integers(0, 2**32 - 1),
)
def test_only_differences_of_times_matter_and_norms_are_kept(
    shift: int, fold: bool, kernel: Kernel, seed: int
) -> None:
    module = RFR(kernel, fold=fold).build(head_dim=16, num_heads=2, seed=seed)
    q, k, time = normal(2, 2, 6, 16), normal(2, 2, 6, 16, seed=1), times(2, 6)
    before = module(q, k, query_time=time, key_time=time)
    after = module(q, k, query_time=time + shift, key_time=time + shift)
    change = (before[0] @ before[1].mT - after[0] @ after[1].mT) / 4
    assert float(change.abs().max()) < 1e-5
    for x, turned in zip((q, k), after, strict=True):
        torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1), rtol=1e-5, atol=0)


def test_nothing_is_cut_unless_asked() -> None:
    assert RFR(Laplace("24h")).law().mass_cut == 0
    scale = Laplace("24h").spectrum().scale
    cut = RFR(Laplace("24h"), truncation=3 * scale)
    assert cut.law().mass_cut == pytest.approx(1 - 2 / math.pi * math.atan(3))  # a fifth
    fastest = [
        float(rfr.build(head_dim=64, num_heads=8).cycles_per_second.abs().max())
        for rfr in (cut, RFR(Laplace("24h")))
    ]
    assert fastest[0] <= 3 * scale < fastest[1]
    assert RFR(DAILY, truncation=2).law().harmonics.tolist() == [-2, -1, 0, 1, 2]


def test_it_draws_as_clockrope_does() -> None:
    """ClockRoPE with one kernel is the special case of a law that is truncated."""
    for method in ("nested_lattice", "paper"):
        clock = ClockRoPE([DAILY], fold=True, method=method).build(head_dim=32, num_heads=4, seed=7, layer=2)
        rfr = RFR(DAILY, fold=True, truncation=6, method=method)
        module = rfr.build(head_dim=32, num_heads=4, seed=7, layer=2)
        assert torch.equal(module.harmonics, clock.harmonics)
        assert torch.equal(module.periods, clock.periods)


def test_the_papers_generator_samples_a_density_as_it_is() -> None:
    """Algorithm 1, line 2: d/2 independent samples of tau; the layer's generator as in Algorithm 2."""
    module = RFR(Gaussian("3h"), method="paper").build(head_dim=16, num_heads=4, seed=42, layer=3)
    law = Gaussian("3h").spectrum()
    drawn = law.sample(32, np.random.default_rng(42 + 4)).reshape(4, 8)
    np.testing.assert_array_equal(module.cycles_per_second.numpy(), drawn)
    assert drawn.min() < 0 < drawn.max()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: RFR(PeriodicGaussian("24h", "6h")).build(head_dim=8, num_heads=1), "not positive definite"),
        (
            lambda: RFR(DAILY, method="halton").build(head_dim=8, num_heads=1),
            "unknown method 'halton': expected one of iid, .*stratified, systematic, paper",
        ),
        (lambda: RFR(Cosine("24h"), truncation=0.5).build(head_dim=8, num_heads=1), "leaves no mass"),
        (lambda: RFR(Laplace("24h"), truncation=-1.0).build(head_dim=8, num_heads=1), "leaves no mass"),
        (lambda: RFR(Laplace(1e-3)).build(head_dim=64, num_heads=4), "too fast for phases exact to 1e-3"),
        (lambda: RFR(Cosine("1s")).build(head_dim=8, num_heads=1), "under two ticks"),
        (lambda: RFR(DAILY).build(head_dim=8, num_heads=1, unit="min"), "time unit 'min'"),
        (lambda: RFR(DAILY, method="paper").build(head_dim=8, num_heads=1, seed=-1), "seed -1"),
        (lambda: RFR(DAILY).build(head_dim=8, num_heads=1)(*[normal(1, 1, 2, 8)] * 2), "RFR needs the time"),
        (
            lambda: RFR(Laplace("7d")).build(head_dim=8, num_heads=1)(*[normal(1, 1, 2, 8)] * 2),
            "RFR needs the time",
        ),
        (
            lambda: (
                RFR(Laplace("7d"))
                .build(head_dim=8, num_heads=2)
                .rotate_key(normal(1, 1, 3, 8), time=times(1, 3))
            ),
            "RFR was built for 2 heads of 8 features",
        ),
        (
            lambda: (
                RFR(Laplace("7d"))
                .build(head_dim=8, num_heads=1)
                .rotate_key(normal(1, 1, 3, 8), time=times(1, 2))
            ),
            "one time for each token",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(
    wrong: Callable[[], object], says: str, unchecked_shapes: None
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)
