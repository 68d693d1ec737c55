"""TO-RoPE against its formula in fractions, its three fusions, and what its gains learn."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rota.attention import KeyCache
from rota.encodings import FusedRotation, RoPE, TORoPE
from rota.errors import InputError
from rota.rotary import real_turns_reference, rotate_reference

NOW, DAY = 1_700_000_000, 86_400
FUSIONS = pytest.mark.parametrize("fusion", ["early", "dimension", "head"])


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def times(seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return NOW + torch.randint(0, 90 * DAY, (2, 5), generator=generator).sort(-1).values


def build(recipe: TORoPE, **sizes: int) -> FusedRotation:
    return recipe.build(**{"head_dim": 16, "num_heads": 4, "num_kv_heads": 2, **sizes})


def planes(fusion: str, head: int, share: float, base: float) -> list[tuple[float, float, float]]:
    """lambda, omega^p and omega^t of the 8 planes of a key head, of 2, in radians."""
    if fusion == "dimension":
        order = 8 - round(8 * share)
        ladder = (
            [base ** (-k / order) for k in range(order)],
            [base ** (-k / (8 - order)) for k in range(8 - order)],
        )
        return [(0.0, omega, 0.0) for omega in ladder[0]] + [(1.0, 0.0, omega) for omega in ladder[1]]
    weight = {"early": share, "head": float(head == 1)}[fusion]
    return [(weight, base ** (-k / 8), base ** (-k / 8)) for k in range(8)]


@FUSIONS
@pytest.mark.parametrize(("unit", "ticks"), [("s", 1), ("ms", 1000), ("ns", 10**9)])
def test_against_the_formula(fusion: str, unit: str, ticks: int) -> None:
    """(1 - lambda) a_p i omega^p + lambda a_t tau omega^t, the same for queries and keys."""
    share = 0.5 if fusion == "head" else 0.25
    recipe = TORoPE(fusion, share, "6h", 500.0, 500.0)
    module = recipe.build(head_dim=16, num_heads=4, num_kv_heads=2, unit=unit)
    a_p, a_t = 1.25, 0.8
    with torch.no_grad():
        module.position_gain.fill_(a_p), module.time_gain.fill_(a_t)
    q, k, time = normal(2, 4, 5, 16), normal(2, 2, 5, 16, seed=1), times()
    position = torch.tensor([[3, 4, 6, 7, 8], [0, 1, 2, 30, 31]])
    turned = module(q, k, time * ticks, time * ticks, position, position)
    for x, out, group in ((q, turned[0], 2), (k, turned[1], 1)):
        for head in range(x.shape[1]):
            rows = planes(fusion, head // group, share, 500.0)
            by_place = torch.tensor([(1 - w) * a_p * p / (2 * math.pi) for w, p, _ in rows]).double()
            by_time = [w * a_t * t / (2 * math.pi) / (6 * 3600) for w, _, t in rows]
            since = time[..., None] - recipe.origin
            turns = real_turns_reference(position[..., None], by_place)
            turns = turns + real_turns_reference(since, torch.tensor(by_time, dtype=torch.float64))
            torch.testing.assert_close(
                out[:, head].detach(), rotate_reference(x[:, head], turns), rtol=0, atol=2e-5
            )
            torch.testing.assert_close(out[:, head].norm(dim=-1), x[:, head].norm(dim=-1), rtol=1e-6, atol=0)


def logits(module: FusedRotation, q: Tensor, k: Tensor, time: Tensor) -> Tensor:
    turned_q, turned_k = module(q, k, time + 60, time)
    return (turned_q @ turned_k.mT).detach() / math.sqrt(q.shape[-1])


@FUSIONS
@settings(max_examples=20)
@given(st.integers(-(10**9), 10**9))
def test_remark_2_time_counts_by_gaps_alone(fusion: str, shift: int) -> None:
    module = build(TORoPE(fusion), num_kv_heads=4)
    q, k = (normal(2, 4, 5, 16, seed=seed, dtype=torch.float32) for seed in (0, 1))
    before = logits(module, q, k, times())
    assert float((logits(module, q, k, times() + shift) - before).abs().max()) < 1e-5
    stretched = times() + torch.arange(5) * DAY  # but gaps do count
    assert float((logits(module, q, k, stretched) - before).abs().max()) > 0.05


@FUSIONS
def test_the_origin_is_one_and_does_not_matter(fusion: str) -> None:
    q, k = (normal(2, 4, 5, 16, seed=seed, dtype=torch.float32) for seed in (0, 1))
    far, near = (build(TORoPE(fusion, origin=origin), num_kv_heads=4) for origin in (0, NOW))
    torch.testing.assert_close(logits(far, q, k, times()), logits(near, q, k, times()), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("share", "wanted"), [(0.5, 8), (0.3, 5), (0.28, 4), (0.9, 14)])
def test_planes_are_dealt_by_the_largest_remainder(share: float, wanted: int) -> None:
    module = TORoPE("dimension", share).build(head_dim=32, num_heads=2)
    assert int((module.cycles_per_second != 0).sum()) == wanted
    assert int((module.cycles_per_position != 0).sum()) == 16 - wanted
    assert not ((module.cycles_per_second != 0) & (module.cycles_per_position != 0)).any()


def test_heads_are_dealt_whole() -> None:
    module = TORoPE("head", 0.25).build(head_dim=8, num_heads=8, num_kv_heads=4)
    assert (module.cycles_per_second != 0).all(1).tolist() == [False, False, False, True]
    assert (module.cycles_per_position != 0).all(1).tolist() == [True, True, True, False]


def test_the_part_of_the_index_is_rope() -> None:
    module, rope = TORoPE("head").build(head_dim=8, num_heads=2), RoPE().build(head_dim=8, num_heads=2)
    q, time = normal(2, 2, 5, 8, dtype=torch.float32), times()
    turned, wanted = module.rotate_query(q, time=time), rope.rotate_query(q)
    torch.testing.assert_close(turned[:, 0].detach(), wanted[:, 0], rtol=0, atol=1e-6)
    assert float((turned[:, 1] - wanted[:, 1]).abs().max().detach()) > 0.1


@FUSIONS
def test_gradient_of_the_gains_against_finite_differences(fusion: str) -> None:
    module = build(TORoPE(fusion, scale="30d"))
    q, k, time = normal(2, 4, 5, 16), normal(2, 2, 5, 16, seed=1), times()
    weight = normal(2, 4, 5, 5, seed=2)

    def loss() -> Tensor:
        turned_q, turned_k = module(q, k, time + 60, time)
        return ((turned_q @ turned_k.repeat_interleave(2, 1).mT) * weight).sum()

    loss().backward()
    for gain in (module.position_gain, module.time_gain):
        sides = []
        for side in (1 + 1e-3, 1 - 1e-3):
            with torch.no_grad():
                gain.fill_(side)
                sides.append(float(loss()))
                gain.fill_(1.0)
        assert float(gain.grad) == pytest.approx((sides[0] - sides[1]) / 2e-3, rel=2e-3, abs=0.02)
        assert abs(float(gain.grad)) > 0.1


def test_what_is_learned_is_almost_nothing() -> None:
    def learned(recipe: TORoPE) -> int:
        return sum(p.numel() for p in build(recipe).parameters() if p.requires_grad)

    assert learned(TORoPE()) == 2
    assert learned(TORoPE(learned=False)) == 0


def test_keys_can_be_cached() -> None:
    module = build(TORoPE("head"))
    cache = KeyCache(module, batch=2, num_kv_heads=2, head_dim=16, capacity=8)
    k, v, q = (normal(2, heads, 5, 16, seed=heads, dtype=torch.float32) for heads in (2, 2, 4))
    with torch.no_grad():
        for i in range(5):
            cache.append(k[:, :, i : i + 1], v[:, :, i : i + 1], time=times()[:, i : i + 1])
        now = times()[:, -1:] + 500
        got = cache.attend(q[:, :, -1:], now=now)
        last = torch.full((1,), 4)
        turned_q, turned_k = module(q[:, :, -1:], k, now, times(), last)
        weights = (turned_q @ turned_k.repeat_interleave(2, 1).mT / 4).softmax(-1)
    torch.testing.assert_close(got, weights @ v.repeat_interleave(2, 1), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: TORoPE("late"), "fusion 'late': expected one of early, dimension, head"),
        (lambda: TORoPE(time_share=1.0), "time_share 1.0 of TO-RoPE: expected a number between 0 and 1; use"),
        (lambda: TORoPE(time_share=math.nan), "time_share nan"),
        (lambda: TORoPE(scale="a while"), "duration 'a while': expected a number and one of"),
        (lambda: TORoPE(origin=-1), "origin -1 of TO-RoPE: expected seconds since 1970"),
        (lambda: build(TORoPE(time_base=1.0)), "RoPE base 1.0"),
        (lambda: TORoPE().build(head_dim=2, num_heads=1), "one part gets none; use a larger head_dim"),
        (lambda: build(TORoPE("head", 0.3)), "2 key heads among 2 parts give 1.4, 0.6: expected whole heads"),
        (
            lambda: build(TORoPE("head")).rotate_key(normal(2, 3, 5, 16), time=times()),
            "TO-RoPE was built for 2 heads",
        ),
        (lambda: build(TORoPE()).rotate_query(normal(2, 4, 5, 16)), "TO-RoPE needs the time of each query"),
        (
            lambda: build(TORoPE()).rotate_query(normal(2, 4, 3, 16), time=times()),
            "TO-RoPE expects .batch, length. .2, 3., one time for each token",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(
    wrong: Callable[[], object], says: str, unchecked_shapes: None
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)
