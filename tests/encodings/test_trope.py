"""T-RoPE against Eq. 5-9 written out at 50 digits, and the gradient of its coefficients."""

import inspect
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rota.attention import SoftmaxAttention
from rota.batch import TimeAccess
from rota.encodings import (
    CoefficientRotation,
    Encoding,
    NoEncoding,
    RoPE,
    Split,
    TimeBias,
    TRoPE,
    TRoPECost,
    clip_groups,
)
from rota.errors import InputError
from rota.rotary import real_turns, real_turns_reference, rotate, rotate_reference
from rota.tables import from_table, to_table

NOW = 1_700_000_000


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def turn(pair: list[mpmath.mpf], angle: mpmath.mpf) -> list[mpmath.mpf]:
    """R(angle) = ((cos, -sin), (sin, cos)) of Eq. 2."""
    cosine, sine = mpmath.cos(angle), mpmath.sin(angle)
    return [cosine * pair[0] - sine * pair[1], sine * pair[0] + cosine * pair[1]]


def literally(x: Tensor, time: Tensor, alpha: Tensor, sign: int, shortest: float, longest: float) -> Tensor:
    """R(alpha_q t / beta) q at the time that a query asks (Eq. 6), R(-alpha_k t / beta) k (Eq. 7)."""
    pairs = len(alpha)
    out = torch.zeros_like(x)
    with mpmath.workdps(50):
        low, high = mpmath.mpf(shortest), mpmath.mpf(longest)
        for row, head, at, j in np.ndindex(*x.shape[:3], pairs):
            beta = low * (high / low) ** (mpmath.mpf(j) / (pairs - 1))  # Eq. 5
            angle = sign * mpmath.mpf(float(alpha[j])) * int(time[row, at]) / beta
            pair = [mpmath.mpf(float(value)) for value in x[row, head, at, 2 * j : 2 * j + 2]]
            out[row, head, at, 2 * j : 2 * j + 2] = torch.tensor(
                [float(value) for value in turn(pair, angle)]
            )
    return out


@pytest.mark.parametrize(("shortest", "longest"), [(1e2, 1e8), (600.0, 1e6)])
def test_against_the_equations(shortest: float, longest: float) -> None:
    module = TRoPE(shortest, longest).build(head_dim=12, num_heads=2, seed=4)
    q, k = normal(1, 2, 4, 12), normal(1, 2, 4, 12, seed=1)
    seen = torch.tensor([[NOW - 10**8, NOW - 86_400, NOW - 30, NOW]])
    asked = torch.tensor([[NOW - 86_400, NOW - 30, NOW, NOW + 5]])  # each at the time of the event after it
    turned_q, turned_k = module(q, k, query_time=asked, key_time=seen)
    wanted_q = literally(q, asked, module.query_coefficients.detach(), 1, shortest, longest)
    wanted_k = literally(k, seen, module.key_coefficients.detach(), -1, shortest, longest)
    # Phases are float32 turns (2e-7 rad) and float64 products of up to 3e6 turns (3e-9 rad).
    torch.testing.assert_close(turned_q.detach(), wanted_q, rtol=0, atol=2e-6)
    torch.testing.assert_close(turned_k.detach(), wanted_k, rtol=0, atol=2e-6)


def test_logits_see_the_sum_of_two_times() -> None:
    """Eq. 9: the product of a plane is turned by (alpha_q t_q + alpha_k t_k) / beta."""
    module = TRoPE().build(head_dim=2, num_heads=1, seed=1)
    q = torch.tensor([1.0, 0.0], dtype=torch.float64).view(1, 1, 1, 2)
    asked, seen = torch.tensor([[NOW]]), torch.tensor([[NOW - 5000]])
    with torch.no_grad():
        turned_q, turned_k = module(q, q, query_time=asked, key_time=seen)
        alpha_q, alpha_k = module.query_coefficients[0], module.key_coefficients[0]
        phase = (alpha_q * asked + alpha_k * seen) / 100.0
        assert float((turned_q * turned_k).sum()) == pytest.approx(math.cos(float(phase)), abs=1e-6)


def test_coefficients_start_as_standard_normals_in_float64() -> None:
    module = TRoPE().build(head_dim=2000, num_heads=4, seed=0)
    for name, values in module.named_parameters():
        assert values.dtype == torch.float64, name
        assert values.shape == (1000,), name
        assert abs(float(values.detach().mean())) < 5 / math.sqrt(1000)
        assert float(values.detach().std()) == pytest.approx(1, abs=0.12)
    together = torch.stack((module.query_coefficients, module.key_coefficients)).detach()
    assert abs(float(torch.corrcoef(together)[0, 1])) < 0.15
    half = TRoPE(spread=0.5).build(head_dim=2000, num_heads=4, seed=0)
    assert torch.equal(half.query_coefficients, 0.5 * module.query_coefficients)
    assert module.cycles_per_second.dtype == torch.float64
    assert float(module.cycles_per_second[0]) == pytest.approx(1 / (2 * math.pi * 100), rel=1e-14)
    assert float(module.cycles_per_second[-1]) == pytest.approx(1 / (2 * math.pi * 1e8), rel=1e-12)


def loss(module: CoefficientRotation, q: Tensor, k: Tensor, asked: Tensor, seen: Tensor) -> Tensor:
    turned_q, turned_k = module(q, k, query_time=asked, key_time=seen)
    return (turned_q @ turned_k.mT).tanh().sum()


def test_gradient_of_the_coefficients_against_finite_differences() -> None:
    module = TRoPE(shortest=1e6, longest=1e8).build(head_dim=8, num_heads=2, seed=2)
    q, k = normal(2, 2, 3, 8), normal(2, 2, 3, 8, seed=1)
    seen = NOW + torch.tensor([[0, 3000, 500_000], [7, 86_400, 10**7]])
    asked = seen + 3600
    loss(module, q, k, asked, seen).backward()
    for coefficients in (module.query_coefficients, module.key_coefficients):
        for j in range(4):
            step = 1e-4 * float(1 / (NOW * 2 * math.pi * module.cycles_per_second[j]))
            step *= 10  # a thousandth of a radian
            with torch.no_grad():
                start = float(coefficients[j])
                sides = []
                for side in (start + step, start - step):
                    coefficients[j] = side
                    sides.append(float(loss(module, q, k, asked, seen)))
                coefficients[j] = start
            finite = (sides[0] - sides[1]) / (2 * step)
            assert float(coefficients.grad[j]) == pytest.approx(finite, rel=5e-3, abs=1e-3 / step * 1e-3)


def test_gradient_of_the_coefficients_by_hand() -> None:
    """d logit / d alpha_q is t_q / beta times the product with the key a quarter turn behind."""
    module = TRoPE().build(head_dim=2, num_heads=1, seed=1)
    q, k = normal(1, 1, 1, 2), normal(1, 1, 1, 2, seed=1)
    asked, seen = torch.tensor([[NOW + 60]]), torch.tensor([[NOW]])
    turned_q, turned_k = module(q, k, query_time=asked, key_time=seen)
    (turned_q * turned_k).sum().backward()
    first, second = turned_q.detach().flatten(), turned_k.detach().flatten()
    across = first[0] * second[1] - first[1] * second[0]  # turned_q a quarter turn on, times turned_k
    torch.testing.assert_close(
        module.query_coefficients.grad, (across * asked[0] / 100.0), rtol=1e-6, atol=1e-6
    )
    torch.testing.assert_close(module.key_coefficients.grad, (across * seen[0] / 100.0), rtol=1e-6, atol=1e-6)


def test_gradient_of_the_coefficients_against_the_slow_rotation() -> None:
    """Phases and their gradients in float64 from autograd's own rules, heads and tokens summed there."""
    module = TRoPE().build(head_dim=8, num_heads=3, num_kv_heads=1, seed=2, unit="ms")
    q, k = normal(2, 3, 5, 8).float(), normal(2, 1, 5, 8, seed=1).float()
    seen = (NOW + torch.arange(10).view(2, 5) * 86_400) * 1000 + 7
    asked = seen + 3_600_000
    weights = normal(2, 3, 5, 8, seed=2), normal(2, 1, 5, 8, seed=3)
    turned = module(q, k, query_time=asked, key_time=seen)
    sum((out * weight).sum() for out, weight in zip(turned, weights, strict=True)).backward()
    for x, time, sign, coefficients, weight in (
        (q, asked, 1, module.query_coefficients, weights[0]),
        (k, seen, -1, module.key_coefficients, weights[1]),
    ):
        alpha = coefficients.detach().clone().requires_grad_()
        turns = sign * alpha * module.cycles_per_second * (time[:, None, :, None].double() / 1000)
        (rotate_reference(x, turns) * weight).sum().backward()
        torch.testing.assert_close(
            coefficients.grad, alpha.grad, rtol=1e-5, atol=1e-6 * float(alpha.grad.abs().max())
        )
        assert coefficients.grad.dtype == torch.float64


def test_nothing_is_kept_for_frozen_coefficients() -> None:
    module = TRoPE().build(head_dim=8, num_heads=64, seed=2)
    q = normal(2, 64, 5, 8).float().requires_grad_()
    time = NOW + torch.arange(10).view(2, 5)
    for learnt in (True, False):
        for parameter in module.parameters():
            parameter.requires_grad_(learnt)
        kept = []
        with torch.autograd.graph.saved_tensors_hooks(lambda x, kept=kept: kept.append(x) or x, lambda x: x):
            out = module.rotate_query(q, time=time)
        large = [tensor.data_ptr() for tensor in kept if tensor.numel() >= q.numel()]
        assert large == ([out.data_ptr()] if learnt else [])


@pytest.mark.parametrize("shape", [(1, 3), (3, 3), (2, 4), (3, 2)])
def test_times_of_other_tokens_are_refused(shape: tuple[int, int]) -> None:
    module, q = TRoPE().build(head_dim=8, num_heads=2), normal(2, 2, 3, 8)
    for turn_side in (module.rotate_query, module.rotate_key):
        with pytest.raises(InputError, match=r"T-RoPE expects \(batch, length\) \(2, 3\), one time for each"):
            inspect.unwrap(turn_side.__func__)(module, q, time=torch.zeros(shape, dtype=torch.int64))


def test_a_step_of_training_keeps_float64() -> None:
    module = TRoPE().build(head_dim=8, num_heads=2).bfloat16()
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)
    q = normal(1, 2, 3, 8).bfloat16()
    time = torch.tensor([[NOW, NOW + 1, NOW + 2]])
    loss(module, q, q, time, time).backward()
    before = module.query_coefficients.detach().clone()
    optimizer.step()
    assert module.query_coefficients.dtype == module.query_coefficients.grad.dtype == torch.float64
    assert not torch.equal(module.query_coefficients, before)


def test_a_single_pair_has_the_shortest_scale() -> None:
    module = TRoPE().build(head_dim=2, num_heads=1)
    assert float(module.cycles_per_second) == pytest.approx(1 / (2 * math.pi * 100), rel=1e-14)


@pytest.mark.parametrize(
    ("trope", "says"),
    [
        (TRoPE(shortest=0), "0 < shortest"),
        (TRoPE(shortest=1e9), "shortest <= longest"),
    ],
)
def test_a_bank_without_range_is_refused(trope: TRoPE, says: str) -> None:
    with pytest.raises(InputError, match=says):
        trope.build(head_dim=8, num_heads=1)


COEFFICIENTS, KEYS = ("free", "tied"), ("nonstationary", "stationary")


@pytest.mark.parametrize("sides", ["both", "query", "key"])
@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("coefficients", COEFFICIENTS)
@pytest.mark.parametrize("parametrisation", ["paper", "conditioned"])
def test_every_switch_against_fractions(
    coefficients: str, keys: str, sides: str, parametrisation: str
) -> None:
    recipe = TRoPE(1e3, 1e7, 0.7, coefficients, keys, sides, parametrisation)
    module = recipe.build(head_dim=8, num_heads=2, seed=4, unit="ms")
    drawn = TRoPE(1e3, 1e7, 0.7).build(head_dim=8, num_heads=2, seed=4)
    alpha_q, alpha_k = drawn.query_coefficients.detach(), drawn.key_coefficients.detach()
    if coefficients == "tied" and sides == "both":
        alpha_k = alpha_q
    since = recipe.origin if parametrisation == "conditioned" else 0
    q, k, time = normal(2, 2, 3, 8), normal(2, 2, 3, 8, seed=1), NOW + torch.arange(6).view(2, 3) * 50_000
    time = 1000 * time + 7
    turned = module(q, k, time + 999_999, time)
    for x, out, at, alpha, still in (
        (q, turned[0], time + 999_999, alpha_q, sides == "key"),
        (k, turned[1], time, alpha_k if keys == "stationary" else -alpha_k, sides == "query"),
    ):
        cycles = alpha * drawn.cycles_per_second * (0 if still else 1)
        turns = real_turns_reference((at - 1000 * since)[:, None, :, None], cycles, 1000)
        torch.testing.assert_close(out.detach(), rotate_reference(x, turns), rtol=0, atol=5e-6)


def test_both_parametrisations_start_as_one_model() -> None:
    """Counted from 1970 to the same logits; from a later origin up to a fixed turn of each plane."""
    q, k, time = normal(2, 2, 3, 8), normal(2, 2, 3, 8, seed=1), NOW + torch.arange(6).view(2, 3) * 50_000
    paper = TRoPE().build(head_dim=8, num_heads=2, seed=4)
    for origin in (0, NOW - 10**7):
        recipe = TRoPE(parametrisation="conditioned", origin=origin)
        module = recipe.build(head_dim=8, num_heads=2, seed=4)
        total = paper.query_cycles_per_second - paper.key_cycles_per_second
        fixed = real_turns(torch.tensor(origin), total.detach())
        turned_q, turned_k = module(rotate(q, fixed), k, time, time)
        wanted_q, wanted_k = paper(q, k, time, time)
        torch.testing.assert_close(turned_q @ turned_k.mT, wanted_q @ wanted_k.mT, rtol=0, atol=2e-5)


def trained(recipe: TRoPE, lr: float, **optimiser: float) -> tuple[Tensor, Tensor]:
    """Cycles per second of queries and of keys moved by one step of AdamW."""
    module = recipe.build(head_dim=64, num_heads=2, seed=1)
    before = torch.stack((module.query_cycles_per_second, module.key_cycles_per_second)).detach()
    q, k, time = normal(2, 2, 9, 64), normal(2, 2, 9, 64, seed=1), NOW + torch.arange(18).view(2, 9) * 10**6
    loss(module, q, k, time + 60, time).backward()
    torch.optim.AdamW(module.parameters(), lr=lr, **optimiser).step()
    after = torch.stack((module.query_cycles_per_second, module.key_cycles_per_second)).detach()
    moved_q, moved_k = after - before
    return moved_q, moved_k


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("coefficients", COEFFICIENTS)
def test_a_conditioned_step_moves_no_plane_by_more_than_two_rates(coefficients: str, keys: str) -> None:
    """Of any two times within two years of the origin, whatever weight decay; the paper's by thousands."""
    lr, years = 1e-3, 730 * 86_400
    grid = torch.linspace(0, years, 9).double()
    recipe = TRoPE(coefficients=coefficients, keys=keys, parametrisation="conditioned", span="730d")
    moved_q, moved_k = trained(recipe, lr, weight_decay=0.1)
    turns = moved_q * grid[:, None, None] - moved_k * grid[None, :, None]
    assert float(turns.abs().max()) <= 2 * lr * (1 + 1e-6)
    assert float(turns.abs().amax((0, 1)).min()) > 0.5 * lr  # and every plane moves
    moved_q, _ = trained(TRoPE(coefficients=coefficients, keys=keys), lr, weight_decay=0)
    assert float(moved_q.abs().max()) * NOW == pytest.approx(2705, abs=2)


def test_conditioned_gradients_are_alike_in_all_planes() -> None:
    spreads = {}
    for parametrisation in ("paper", "conditioned"):
        module = TRoPE(parametrisation=parametrisation).build(head_dim=64, num_heads=2, seed=1)
        q, k = normal(2, 2, 9, 64), normal(2, 2, 9, 64, seed=1)
        time = NOW + torch.arange(18).view(2, 9) * 10**6
        loss(module, q, k, time + 60, time).backward()
        squared = next(module.parameters()).grad.square().sort().values
        spreads[parametrisation] = float(squared[-8:].sum() / squared.sum())
    assert spreads["paper"] > 0.95  # the 8 fastest of 32 planes are all of the norm
    assert spreads["conditioned"] < 0.9


def test_clip_groups_keep_coefficients_and_weights_apart() -> None:
    attention = SoftmaxAttention(16, 2, TRoPE().build(head_dim=8, num_heads=2))
    network = nn.Sequential(nn.Linear(16, 16), attention)
    weights, clocks = clip_groups(network)
    assert [tuple(p.shape) for p in clocks] == [(4,), (4,)]
    assert {id(p) for p in weights} | {id(p) for p in clocks} == {id(p) for p in network.parameters()}
    assert len(weights) == 5
    time = NOW + torch.arange(10).view(2, 5) * 86_400
    attention(network[0](normal(2, 5, 16).float()), time, time).square().sum().backward()
    before = [p.grad.clone() for p in weights]
    together = torch.nn.utils.get_total_norm([p.grad for p in (*weights, *clocks)])
    assert together > 1000 * torch.nn.utils.get_total_norm(before)  # one clip for all would starve them
    torch.nn.utils.clip_grad_norm_(clocks, 1.0)
    assert all(torch.equal(p.grad, was) for p, was in zip(weights, before, strict=True))
    split = Split([RoPE(), TRoPE()]).build(head_dim=8, num_heads=2)
    assert clip_groups(split) == ([], list(split.parameters()))
    assert clip_groups(nn.Linear(2, 2))[1] == []


TABLE_3: dict[str, tuple[Encoding, str, TimeBias | None]] = {
    "T-RoPE": (TRoPE(), "request", TimeBias()),
    "- Non-Stationary": (TRoPE(keys="stationary"), "request", TimeBias()),
    "- shifted": (TRoPE(keys="stationary"), "history", TimeBias()),
    # The paper does not say which frequency is left; here the middle of the bank, a period of 17.5 hours.
    "- multiscale freq. bank": (TRoPE(1e4, 1e4, keys="stationary"), "history", TimeBias()),
    "- abs. time embedding": (NoEncoding(), "history", TimeBias()),
    "- Shifted Query RoPE": (TRoPE(sides="key"), "request", TimeBias()),
    "- Key RoPE": (TRoPE(sides="query"), "request", TimeBias()),
    "- Time RAB": (TRoPE(), "request", None),
    # Ours: with free coefficients the second row is the first by another name, so it takes tied ones to ask.
    "- Non-Stationary, tied": (TRoPE(coefficients="tied", keys="stationary"), "request", TimeBias()),
    "T-RoPE, tied": (TRoPE(coefficients="tied"), "request", TimeBias()),
}


def test_each_row_of_table_3_is_one_configuration() -> None:
    built, time = {}, NOW + torch.arange(10).view(2, 5) * 86_400
    q = normal(2, 2, 5, 16)
    for row, (encoding, access, bias) in TABLE_3.items():
        assert TimeAccess.parse(access) != TimeAccess.NONE
        built[row] = encoding.build(head_dim=16, num_heads=2, seed=3)
        assert from_table(to_table(encoding), Encoding) == encoding  # type: ignore[type-abstract]
        if bias is not None:
            assert bias.build(max_len=5)(time, time).shape == (2, 1, 5, 5)

    def still(row: str) -> tuple[bool, bool]:
        turned = built[row](q, q, time, time)
        return torch.equal(turned[0], q), torch.equal(turned[1], q)

    assert still("- abs. time embedding") == (True, True)
    assert still("- Shifted Query RoPE") == (True, False)
    assert still("- Key RoPE") == (False, True)
    assert still("T-RoPE") == (False, False)
    full, stationary = built["T-RoPE"], built["- Non-Stationary"]
    assert torch.equal(full.rotate_query(q, time=time), stationary.rotate_query(q, time=time))
    assert torch.equal(full.key_cycles_per_second, -stationary.key_cycles_per_second)
    single = built["- multiscale freq. bank"].cycles_per_second
    assert float(single.std()) == 0
    assert float(1 / single[0]) == pytest.approx(17.45 * 3600, rel=1e-3)
    assert len({(repr(e), access, repr(bias)) for e, access, bias in TABLE_3.values()}) == len(TABLE_3)


class Counted(float):
    """A number that counts what is done to it: each operation once, a change of sign free, as in App. B.2."""

    done = 0

    def _count(self, value: float) -> "Counted":
        Counted.done += 1
        return Counted(value)

    def __mul__(self, other: float) -> "Counted":
        return self._count(float(self) * float(other))

    def __truediv__(self, other: float) -> "Counted":
        return self._count(float(self) / float(other))

    def __add__(self, other: float) -> "Counted":
        return self._count(float(self) + float(other))

    def __sub__(self, other: float) -> "Counted":
        return self._count(float(self) - float(other))


def test_the_table_of_operations_is_counted() -> None:
    """Algorithms 1 to 3 for one plane, one side, run on counting numbers, times what there are of them."""
    tokens, heads, pairs = 6, 4, 5
    cost = TRoPECost(tokens, heads, pairs)
    planes = 2 * tokens * pairs  # of both sides
    x0, x1, g0, g1, c, s, alpha, t, beta = (Counted(value) for value in range(1, 10))

    def counted(*work: object) -> int:
        done, Counted.done = Counted.done, 0
        return done

    counted()
    assert planes * counted(alpha * t / beta) == cost.build_phases == 4 * tokens * pairs
    turned = counted(x0 * c - x1 * s, x0 * s + x1 * c)
    assert planes * heads * turned == cost.rotate == 12 * tokens * heads * pairs
    assert planes * heads * counted(g0 * c + g1 * s, g1 * c - g0 * s) == cost.fixed_backward
    # -x0 S - x1 C is minus (x0 S + x1 C): its sign goes into the outer sum.
    a_head = counted(g1 * (x0 * c - x1 * s) - g0 * (x0 * s + x1 * c))
    over_heads = counted(sum((Counted(1.0) for _ in range(heads - 1)), start=Counted(1.0)))
    assert planes * (heads * a_head + over_heads) == cost.phase_gradient
    assert cost.phase_gradient == 18 * tokens * heads * pairs + 2 * tokens * pairs * (heads - 1)
    ours = counted(g1 * x0 - g0 * x1)
    assert planes * (heads * ours + over_heads) == cost.our_phase_gradient
    assert planes * counted(alpha * t / beta) == cost.coefficient_gradients  # dPhi in the place of alpha
    assert cost.transcendentals == 2 * planes
    module = TRoPE().build(head_dim=2 * pairs, num_heads=heads)
    assert sum(p.numel() for p in module.parameters()) == cost.parameters == 10
    tied = TRoPE(coefficients="tied", parametrisation="conditioned").build(head_dim=10, num_heads=heads)
    assert sum(p.numel() for p in tied.parameters()) == 5
    paper = TRoPE().build(head_dim=128, num_heads=4)
    assert 2 * sum(p.numel() for p in paper.parameters()) == 256  # of the paper's two layers


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: TRoPE(shortest="fortnight"), "duration 'fortnight': expected a number and one of s, min"),
        (lambda: TRoPE(longest="-1d"), "duration '-1d'"),
        (lambda: TRoPE(coefficients="shared"), "coefficients 'shared': expected one of free, tied"),
        (lambda: TRoPE(keys="backwards"), "key rotation 'backwards': expected one of nonstationary"),
        (lambda: TRoPE(sides="none"), "rotated sides 'none': expected one of both, query, key"),
        (lambda: TRoPE(parametrisation="log"), "parametrisation 'log': expected one of paper, conditioned"),
        (lambda: TRoPE(spread=-1.0), "spread -1.0 of T-RoPE"),
        (lambda: TRoPE(span="soon"), "duration 'soon'"),
        (lambda: TRoPE(origin=NOW * 1000), "origin 1700000000000 of T-RoPE: expected seconds since 1970"),
        (lambda: TRoPECost(1, 0, 1), "cost of 1 tokens, 0 heads"),
    ],
)
def test_what_cannot_be_read_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)


def test_durations_are_kept_as_seconds() -> None:
    assert TRoPE("5min", "365d") == TRoPE(300.0, 365 * 86_400.0)
    with pytest.raises(InputError, match="0 < shortest <= longest"):
        TRoPE("365d", "5min").build(head_dim=8, num_heads=1)
