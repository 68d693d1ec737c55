"""ClockRoPE against the slow plain way, the profile that it realises, and the propositions behind it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from numpy.typing import ArrayLike
from scipy import stats
from torch import Tensor

from rota.encodings import ClockRoPE, HarmonicRotation, RoPE, Split, TRoPE
from rota.encodings.base import Encoding
from rota.errors import InputError
from rota.kernels import Admissible, Constant, Cosine, PeriodicGaussian, WeightedSum, WrappedGaussian
from rota.rotary import rotate_reference
from rota.spectra import Density

DAILY, WEEKLY = WrappedGaussian("24h", "2h"), WrappedGaussian("7d", "14h")
NOW, DAY = 1_700_000_000, 86_400


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def times(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return NOW + torch.randint(-(10**8), 10**8, shape, generator=generator)


def plainly(module: HarmonicRotation, x: Tensor, time: Tensor) -> Tensor:
    """Each head's own angle 2 pi k t / T, formed in Python's integers, and one matrix a pair."""
    heads, pairs = module.harmonics.shape
    turns = torch.zeros(x.shape[0], x.shape[1], x.shape[2], pairs, dtype=torch.float64)
    for row, head, at, pair in np.ndindex(*turns.shape):
        harmonic = int(module.harmonics[head * heads // x.shape[1], pair])
        period = int(module.periods[pair])
        turns[row, head, at, pair] = harmonic * int(time[row, at]) % period / period
    return rotate_reference(x, turns)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    "clock",
    [
        ClockRoPE([DAILY]),
        ClockRoPE([DAILY], fold=False, method="iid"),
        ClockRoPE([DAILY, WEEKLY, Cosine("1h")], fold=False, shares=[0.5, 0.25, 0.25]),
        ClockRoPE([0.7 * DAILY + 0.3 * WEEKLY], fold=False),
    ],
    ids=["one", "symmetric", "three", "sum"],
)
def test_against_the_plain_way(clock: ClockRoPE, dtype: torch.dtype) -> None:
    module = clock.build(head_dim=16, num_heads=4, num_kv_heads=2, seed=3)
    asked, seen = times(2, 5), times(2, 5, seed=1)
    tolerance = {torch.float64: 1e-6, torch.float32: 2e-6, torch.bfloat16: 0.03}[dtype]
    gradients = []
    for query, key in (
        (lambda q: module.rotate_query(q, time=asked), lambda k: module.rotate_key(k, time=seen)),
        (lambda q: plainly(module, q, asked), lambda k: plainly(module, k, seen)),
    ):
        q = normal(2, 4, 5, 16, dtype=dtype).requires_grad_()
        k = normal(2, 2, 5, 16, seed=1, dtype=dtype).requires_grad_()
        rotated = query(q), key(k)
        weights = normal(2, 4, 5, 16, seed=2), normal(2, 2, 5, 16, seed=3)
        sum((out.double() * weight).sum() for out, weight in zip(rotated, weights, strict=True)).backward()
        gradients.append((*(out.double() for out in rotated), q.grad.double(), k.grad.double()))
    for fast, slow in zip(*gradients, strict=True):
        torch.testing.assert_close(fast, slow, rtol=tolerance, atol=2 * tolerance)


def realised(module: HarmonicRotation, lags: Tensor) -> Tensor:
    """Mean logit over the pairs of each head, of aligned unit pairs, the key ``lag`` before the query."""
    heads, pairs = module.harmonics.shape
    aligned = torch.zeros(len(lags), heads, 1, 2 * pairs)
    aligned[..., ::2] = 1
    asked = torch.full((len(lags), 1), NOW)
    q, k = module(aligned, aligned, query_time=asked, key_time=asked - lags[:, None])
    return (q * k).sum((2, 3)).double() / pairs


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("method", ["iid", "nested_lattice"])
@pytest.mark.parametrize("kernels", [[DAILY], [WEEKLY, Cosine("24h")]], ids=["one", "two"])
def test_realised_profile_is_the_frequencies_own_mean_of_cosines(
    kernels: list[WrappedGaussian], fold: bool, method: str
) -> None:
    module = ClockRoPE(kernels, fold=fold, method=method).build(head_dim=64, num_heads=8, seed=0)
    lags = torch.arange(-DAY, 10 * DAY, 1801)
    cycles = module.cycles_per_second[None] * lags[:, None, None].double()
    own = torch.cos(2 * math.pi * cycles).mean(-1)
    torch.testing.assert_close(realised(module, lags), own, rtol=0, atol=2e-6)
    assert module.cycles_per_second.dtype == torch.float64


def test_the_drawn_profile_is_near_the_wanted_one() -> None:
    lags = torch.arange(0, 2 * DAY, 900)
    wanted = torch.from_numpy(DAILY(lags.numpy()))
    module = ClockRoPE([DAILY]).build(head_dim=64, num_heads=8, seed=0)
    profile = realised(module, lags)
    assert float((profile - wanted[:, None]).square().mean().sqrt()) < 0.035  # each head
    assert float((profile.mean(1) - wanted).square().mean().sqrt()) < 0.005  # all heads together


@pytest.mark.parametrize(
    ("encoding", "moves"),
    [
        (ClockRoPE([DAILY]), False),
        (ClockRoPE([DAILY, WEEKLY], fold=False, method="iid"), False),
        (Split([RoPE(), ClockRoPE([DAILY])]), False),
        (TRoPE(), True),
        (Split([RoPE(), TRoPE()]), True),
    ],
    ids=["clock", "two", "rope+clock", "trope", "rope+trope"],
)
def test_logits_under_a_common_shift_of_time(encoding: Encoding, moves: bool) -> None:
    head_dim = 64
    module = encoding.build(head_dim=head_dim, num_heads=8, seed=0)
    q, k, time = normal(4, 8, 50, head_dim), normal(4, 8, 50, head_dim, seed=1), times(4, 50)

    def logits(time: Tensor) -> Tensor:
        turned_q, turned_k = module(q, k, query_time=time, key_time=time)
        return (turned_q @ turned_k.mT / math.sqrt(head_dim)).detach()

    change = float((logits(time + 10**9) - logits(time)).abs().max())
    assert change > 0.1 if moves else change < 1e-5


def weights() -> np.ndarray:
    """Masses of harmonics -6..6 for 24 h and 2 h, from the formula."""
    mass = np.exp(-(np.arange(-6, 7) ** 2) / (2 * (24 / (2 * np.pi * 2)) ** 2))
    return mass / mass.sum()


@pytest.mark.parametrize("method", ["iid", "systematic", "nested_lattice"])
@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("angle", [0.0, 0.3, -1.0])
def test_mean_over_seeds_is_the_wanted_profile(fold: bool, angle: float, method: str) -> None:
    """Prop. 3.1: q.k f(lag) for the symmetric law; the folded one adds its conjugate term.

    Then the mean is ``q.k f(lag) - (q x k) f~(lag)`` with ``f~`` the sum of sines, which is not small:
    a folded law turns all pairs the same way.
    """
    seeds, heads, pairs = 6, 64, 32
    q = torch.tensor([1.0, 0.0])
    k = torch.tensor([math.cos(angle), math.sin(angle)])
    dot, cross = float(q @ k), float(q[1] * k[0] - q[0] * k[1])
    lags = torch.arange(-DAY // 2, DAY, 1800)
    asked = torch.full((len(lags), 1), NOW)
    total = torch.zeros(len(lags), dtype=torch.float64)
    for seed in range(seeds):
        module = ClockRoPE([DAILY], fold=fold, method=method).build(
            head_dim=2 * pairs, num_heads=heads, seed=seed
        )
        turned_q, turned_k = module(
            q.repeat(pairs).expand(len(lags), heads, 1, -1),
            k.repeat(pairs).expand(len(lags), heads, 1, -1),
            query_time=asked,
            key_time=asked - lags[:, None],
        )
        total += (turned_q * turned_k).sum((1, 2, 3)).double() / (heads * pairs * seeds)
    cycles = 2 * np.pi * np.arange(-6, 7)[:, None] * lags.numpy() / DAY
    f = (weights()[:, None] * np.cos(cycles)).sum(0)
    sines = (
        weights()[:, None] * np.sin(np.abs(np.arange(-6, 7))[:, None] * 2 * np.pi * lags.numpy() / DAY)
    ).sum(0)
    wanted = dot * f - cross * sines if fold else dot * f
    assert np.abs(total.numpy() - wanted).max() < 5 / np.sqrt(seeds * heads * pairs)
    if fold and angle:  # the term is there: without it the mean would be far off
        assert np.abs(total.numpy() - dot * f).max() > 0.1


def test_defaults_are_the_papers_recommendation() -> None:
    module = ClockRoPE().build(head_dim=64, num_heads=8)
    assert module.harmonics.shape == (8, 32)
    assert module.harmonics.dtype == torch.int64
    assert module.harmonics.min() == 0
    assert module.harmonics.max() <= 6
    assert (module.periods == DAY).all()
    assert len({tuple(head) for head in module.harmonics.tolist()}) == 8
    assert ClockRoPE(fold=False).build(head_dim=64, num_heads=8).harmonics.min() < 0


def test_kernels_share_the_features() -> None:
    module = ClockRoPE([DAILY, WEEKLY], shares=[0.75, 0.25]).build(head_dim=32, num_heads=2, unit="ms")
    assert module.periods.tolist() == [DAY * 1000] * 12 + [7 * DAY * 1000] * 4
    alone = ClockRoPE([DAILY]).build(head_dim=24, num_heads=2, unit="ms")
    assert torch.equal(module.harmonics[:, :12], alone.harmonics)
    twice = ClockRoPE([DAILY, DAILY]).build(head_dim=32, num_heads=2).harmonics
    assert not torch.equal(twice[:, :8], twice[:, 8:])  # each draws for itself
    seconds = ClockRoPE([DAILY, WEEKLY], shares=[0.75, 0.25]).build(head_dim=32, num_heads=2)
    assert torch.equal(module.cycles_per_second, seconds.cycles_per_second)


BOTH = 0.7 * DAILY + 0.3 * WEEKLY


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("method", ["nested_lattice", "stratified", "sobol"])
def test_a_sum_of_periods_turns_at_harmonics_of_their_multiple(method: str, fold: bool) -> None:
    clock = ClockRoPE([BOTH], fold=fold, method=method)
    law = clock.law(BOTH)
    assert law.period == 7 * DAY
    assert law.is_folded is fold
    module = clock.build(head_dim=64, num_heads=8, unit="ms")
    assert (module.periods == 7 * DAY * 1000).all()
    assert (module.harmonics % 7 != 0).any()
    assert module.harmonics.abs().max() == 7 * 6 == abs(law.harmonics).max()
    lags = torch.arange(0, 7 * DAY, 1800)
    module = clock.build(head_dim=64, num_heads=8)
    profile, wanted = realised(module, lags), torch.from_numpy(BOTH(lags.numpy()))
    assert float((profile - wanted[:, None]).square().mean().sqrt()) < 0.06  # each head
    assert float((profile.mean(1) - wanted).square().mean().sqrt()) < 0.012  # all heads together


def test_parts_of_a_sum_are_truncated_each_by_itself() -> None:
    law = ClockRoPE([BOTH], fold=False).law(BOTH)
    lags = np.arange(0, 7 * DAY, 911)
    parts = (
        [0.7, ClockRoPE([DAILY], fold=False).law(DAILY)],
        [0.3, ClockRoPE([DAILY], fold=False).law(WEEKLY)],
    )
    wanted = sum(weight * part.characteristic(lags) for weight, part in parts)
    np.testing.assert_allclose(law.characteristic(lags), wanted, rtol=0, atol=1e-12)
    short = ClockRoPE([BOTH], truncation=2).law(BOTH)
    assert short.harmonics.tolist() == [0, 1, 2, 7, 14]
    nested = WeightedSum([WeightedSum([DAILY, WEEKLY], [7, 3]), Cosine("24h")], [1, 1])
    law = ClockRoPE([nested]).law(nested)
    assert law.pmf(7) == pytest.approx(
        0.5 + 0.35 * 2 * DAILY.spectrum().truncate().pmf(1) + mass_of_week(7) / 2
    )
    assert ClockRoPE([DAILY * WEEKLY]).law(DAILY * WEEKLY).period == 7 * DAY
    assert ClockRoPE([BOTH.rescale(2)]).law(BOTH.rescale(2)).period == 14 * DAY


def mass_of_week(harmonic: int) -> float:
    """Share of a folded weekly harmonic in ``0.7 daily + 0.3 weekly``."""
    return 0.3 * 2 * float(WEEKLY.spectrum().truncate().pmf(harmonic))


@dataclass(frozen=True)
class Fading(Admissible):
    """A profile that dies away, and so has no period."""

    def __call__(self, lag: ArrayLike) -> np.ndarray:
        return np.exp(-0.5 * (np.asarray(lag) / DAY) ** 2)

    def spectrum(self) -> Density:
        spread = 1 / (2 * np.pi * DAY)
        return Density(stats.norm(scale=spread), self, spread)

    def __str__(self) -> str:
        return "fading"


def test_truncation() -> None:
    harmonics = ClockRoPE([DAILY], truncation=2, method="iid").build(head_dim=64, num_heads=8).harmonics
    assert set(harmonics.unique().tolist()) == {0, 1, 2}


def test_a_checkpoint_holds_the_draw_and_nothing_derived() -> None:
    module = ClockRoPE([DAILY, WEEKLY]).build(head_dim=64, num_heads=8)
    assert set(module.state_dict()) == {"harmonics", "periods"}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: ClockRoPE([]), "ClockRoPE has no kernel"),
        (lambda: ClockRoPE([DAILY], shares=[0.5]).build(head_dim=8, num_heads=1), "shares"),
        (lambda: ClockRoPE([DAILY, WEEKLY]).build(head_dim=2, num_heads=1), "larger head_dim"),
        (lambda: ClockRoPE([DAILY], method="halton").build(head_dim=8, num_heads=1), "'halton'"),
        (
            lambda: ClockRoPE([DAILY], truncation=-1).build(head_dim=8, num_heads=1),
            "truncation -1 of ClockRoPE",
        ),
        (lambda: ClockRoPE([DAILY]).build(head_dim=8, num_heads=1, unit="min"), "time unit 'min'"),
        (lambda: ClockRoPE([DAILY]).build(head_dim=8, num_heads=1, seed=-1), "seed -1"),
        (
            lambda: ClockRoPE().law(PeriodicGaussian("24h", "4h")),
            "is not positive definite, so it has no law",
        ),
        (lambda: ClockRoPE(static="drop").law(Constant()), r"constant\(\) never turns, and static=\"drop\""),
        (
            lambda: ClockRoPE([Fading(), DAILY]).build(head_dim=2, num_heads=1),
            "larger head_dim",
        ),
        (lambda: ClockRoPE([Cosine(90.5)]).build(head_dim=8, num_heads=1), "90.5"),
        (
            lambda: ClockRoPE([WrappedGaussian("365d", "4h")]).build(head_dim=64, num_heads=1, unit="ns"),
            "too high for exact phases",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"kernels": "24h"}, r'kernels \'24h\': expected a list .* write WrappedGaussian\("24h", "2h"\)'),
        ({"kernels": None}, "kernels None: expected a list of kernels .* parse_kernel"),
        ({"kernels": ["24h"]}, "kernel '24h': expected one of the kernels .* parse_kernel"),
        ({"kernels": [WrappedGaussian]}, "kernel <class .*: expected one of the kernels"),
        ({"truncation": "6"}, "truncation '6' of ClockRoPE: expected a whole number of at least 0"),
        ({"truncation": 2.5}, r"truncation 2\.5 of ClockRoPE"),
        ({"static": "none"}, r'static \'none\' of ClockRoPE: expected "keep" or "drop"'),
        ({"fold": "yes"}, "fold 'yes' of ClockRoPE: expected True or False"),
        ({"shares": 0.5}, r"shares 0\.5 of ClockRoPE: expected a list"),
    ],
)
def test_what_is_of_another_kind_is_refused(
    unchecked_shapes: None, changed: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        ClockRoPE(**changed)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
