"""ROTE against its formula: one rotation by position and by the logarithm of a gap."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

from rota.attention import KeyCache, SoftmaxAttention
from rota.encodings import ROTE, GapRotation, HeadSplit, RoPE, Rotation, Split
from rota.errors import InputError

NOW, DAY = 1_700_000_000, 86_400
GAPS = pytest.mark.parametrize("gap", ["request", "previous"])


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def times(seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return NOW + torch.randint(0, 900 * DAY, (2, 5), generator=generator).sort(-1).values


def asked_after(seen: Tensor, wait: int = 7 * DAY) -> Tensor:
    """Each query at the next event's time, the last at the request."""
    return torch.cat((seen[:, 1:], seen[:, -1:] + wait), 1)


def literally(x: Tensor, gap: np.ndarray, scale: float, base: float, position: np.ndarray) -> np.ndarray:
    """Complex pairs times exp(i (i theta_j + tau phi_j)), tau = log(1 + gap / scale)."""
    ladder = base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    angle = position[..., None] * ladder + np.log(1 + gap / scale)[..., None] * ladder
    pairs = (x[..., ::2] + 1j * x[..., 1::2]).numpy() * np.exp(1j * angle)[:, None]
    return np.stack((pairs.real, pairs.imag), -1).reshape(x.shape)


def gaps(gap: str, asked: Tensor, seen: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Of queries and of keys, in plain Python."""
    if gap == "request":
        rows = [(row_q[-1], row_q, row_k) for row_q, row_k in zip(asked.tolist(), seen.tolist(), strict=True)]
        return (
            np.array([[now - t for t in row_q] for now, row_q, _ in rows], float),
            np.array([[now - t for t in row_k] for now, _, row_k in rows], float),
        )
    before = [[[0, *(b - a for a, b in pairwise(row))] for row in time.tolist()] for time in (asked, seen)]
    return np.array(before[0], float), np.array(before[1], float)


@GAPS
@pytest.mark.parametrize(("unit", "ticks"), [("s", 1), ("ms", 1000), ("us", 10**6), ("ns", 10**9)])
def test_against_the_formula(gap: str, unit: str, ticks: int) -> None:
    recipe = ROTE(gap, "6h", 500.0, position_base=500.0)
    module = recipe.build(head_dim=8, num_heads=4, num_kv_heads=2, unit=unit)
    q, k, seen = normal(2, 4, 5, 8), normal(2, 2, 5, 8, seed=1), times()
    asked = asked_after(seen)
    position = torch.tensor([[3, 4, 6, 7, 8], [0, 1, 2, 30, 31]])
    turned = module(q, k, asked * ticks, seen * ticks, position, position)
    for x, out, each in zip((q, k), turned, gaps(gap, asked, seen), strict=True):
        wanted = literally(x, each, 6 * 3600, 500.0, position.numpy())
        np.testing.assert_allclose(out.detach(), wanted, rtol=0, atol=5e-6)
        torch.testing.assert_close(out.norm(dim=-1), x.norm(dim=-1), rtol=1e-6, atol=0)  # no weighted sum


def test_phase_of_a_query_and_a_key() -> None:
    """phi log((1 + D_q / s) / (1 + D_k / s)), of gaps to the last query's time."""
    module = ROTE(position=False).build(head_dim=2, num_heads=1)
    x = torch.tensor([1.0, 0.0], dtype=torch.float64).expand(2, 1, 5, 2)
    seen = times()
    asked = asked_after(seen)
    turned_q, turned_k = module(x, x, asked, seen)
    found = (turned_q @ turned_k.mT)[:, 0]
    of_query, of_key = (1 + torch.tensor(each) / DAY for each in gaps("request", asked, seen))
    wanted = torch.cos((of_query[:, :, None] / of_key[:, None]).log())
    torch.testing.assert_close(found, wanted, rtol=0, atol=2e-6)
    assert torch.equal(turned_q[:, :, -1], x[:, :, -1])  # who asks now has a gap of 0


@GAPS
def test_common_shifts_change_nothing_and_the_request_does(gap: str) -> None:
    module = ROTE(gap).build(head_dim=16, num_heads=2)
    q, k, seen = normal(2, 2, 5, 16).float(), normal(2, 2, 5, 16, seed=1).float(), times()

    def logits(shift: int, wait: int) -> Tensor:
        turned_q, turned_k = module(q, k, asked_after(seen, wait) + shift, seen + shift)
        return (turned_q @ turned_k.mT).detach() / 4

    before = logits(0, DAY)
    for shift in (10**9, -(10**9), 7):
        assert float((logits(shift, DAY) - before).abs().max()) < 1e-5
    later = logits(0, 400 * DAY) - before
    assert float(later[:, :, -1].abs().max()) > 0.05
    # All earlier queries are told when the row's request is: what is said of training many queries in a row.
    told = float(later[:, :, :-1].abs().max())
    assert told > 0.05 if gap == "request" else told < 1e-6


def test_gap_to_the_previous_sees_no_later_time() -> None:
    module, k, seen = ROTE("previous").build(head_dim=8, num_heads=2), normal(2, 2, 5, 8), times()
    whole = module.rotate_key(k, time=seen)
    torch.testing.assert_close(
        module.rotate_key(k[:, :, :3], time=seen[:, :3]), whole[:, :, :3], rtol=0, atol=1e-6
    )
    ties = torch.full_like(seen, NOW)
    untimed = RoPE().build(head_dim=8, num_heads=2).rotate_key(k)
    torch.testing.assert_close(module.rotate_key(k, time=ties), untimed, rtol=0, atol=1e-6)


@GAPS
def test_positions_alone_are_rope(gap: str) -> None:
    module, time = ROTE(gap).build(head_dim=8, num_heads=2), torch.full((2, 5), NOW)
    q, k = normal(2, 2, 5, 8), normal(2, 2, 5, 8, seed=1)
    for one, two in zip(
        module(q, k, time, time), RoPE().build(head_dim=8, num_heads=2)(q, k, time, time), strict=True
    ):
        torch.testing.assert_close(one, two, rtol=0, atol=1e-6)
    still = ROTE(gap, position=False).build(head_dim=8, num_heads=2)
    for one, two in zip(still(q, k, time, time), (q, k), strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=1e-6)


@GAPS
def test_it_says_that_keys_cannot_be_cached(gap: str) -> None:
    module = ROTE(gap).build(head_dim=8, num_heads=2)
    assert not module.cacheable
    with pytest.raises(InputError, match="cannot be cached: rotate all keys anew at each request"):
        KeyCache(module, batch=1, num_kv_heads=2, head_dim=8, capacity=4)
    if gap == "previous":  # why not: a block of new events lacks the time before its first
        k, seen = normal(2, 2, 5, 8), times()
        alone = module.rotate_key(k[:, :, 3:], time=seen[:, 3:], position=torch.arange(3, 5))
        whole = module.rotate_key(k, time=seen)
        assert float((alone - whole[:, :, 3:])[:, :, 0].abs().max()) > 0.01


def test_keys_by_themselves_do_not_know_the_request() -> None:
    module = ROTE().build(head_dim=8, num_heads=2)
    with pytest.raises(
        InputError, match=r"rotate_key is not told: rotate queries and keys together"
    ) as caught:
        module.rotate_key(normal(2, 2, 5, 8), time=times())
    assert "\n" not in str(caught.value)
    for combine in (Split, HeadSplit):
        with pytest.raises(InputError, match="ROTE by the gap to the request cannot share a layer"):
            combine([RoPE(), ROTE()]).build(head_dim=8, num_heads=2)
    shared: Rotation = Split([RoPE(), ROTE("previous")]).build(head_dim=8, num_heads=2)
    assert not shared.cacheable


def test_attention_turns_queries_and_keys_together() -> None:
    attention = SoftmaxAttention(16, 2, ROTE().build(head_dim=8, num_heads=2))
    x, seen = normal(2, 5, 16).float(), times()
    near, far = (attention.probabilities(x, asked_after(seen, wait), seen) for wait in (60, 400 * DAY))
    assert float((near - far).abs().max().detach()) > 1e-4


def test_what_is_learned() -> None:
    fixed: GapRotation = ROTE().build(head_dim=8, num_heads=2)
    assert not any(p.requires_grad for p in fixed.parameters())
    module: GapRotation = ROTE(learned=True).build(head_dim=8, num_heads=2)
    q, k, seen = normal(2, 2, 5, 8), normal(2, 2, 5, 8, seed=1), times()
    weight = normal(2, 2, 5, 5, seed=2)

    def loss() -> Tensor:
        turned_q, turned_k = module(q, k, asked_after(seen), seen)
        return ((turned_q @ turned_k.mT) * weight).sum()

    loss().backward()
    for j in range(4):
        with torch.no_grad():
            start, sides = float(module.cycles_per_fold[j]), []
            for step in (1e-4, -1e-4):
                module.cycles_per_fold[j] = start + step
                sides.append(float(loss()))
            module.cycles_per_fold[j] = start
        finite = (sides[0] - sides[1]) / 2e-4
        assert float(module.cycles_per_fold.grad[j]) == pytest.approx(finite, rel=5e-3, abs=0.05)
    ten_years = math.log(1 + 3652 * DAY / DAY)
    torch.optim.AdamW(module.parameters(), lr=1e-3, weight_decay=0).step()
    moved = (module.cycles_per_fold.detach() - fixed.cycles_per_fold.detach()).abs()
    assert float(moved.max()) * ten_years < 0.009


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: ROTE("next"), "gap 'next': expected one of request, previous"),
        (lambda: ROTE(scale="long"), "duration 'long': expected a number and one of"),
        (lambda: ROTE(time_base=0.5).build(head_dim=8, num_heads=2), "RoPE base 0.5"),
        (
            lambda: ROTE().build(head_dim=8, num_heads=2)(*[normal(2, 2, 5, 8)] * 2, None, times()),
            "ROTE needs the time of each query: pass int64 clock ticks",
        ),
        (
            lambda: ROTE().build(head_dim=8, num_heads=2)(*[normal(2, 2, 5, 8)] * 2, times()),
            "ROTE needs the time of each key",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)
