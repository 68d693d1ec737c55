"""T-RoPE against Eq. 5-9 written out at 50 digits, and the gradient of its coefficients."""

import inspect
import math

import mpmath
import numpy as np
import pytest
import torch
from torch import Tensor

from rota.encodings import CoefficientRotation, TRoPE
from rota.errors import InputError
from rota.rotary import rotate_reference

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
    for rotate in (module.rotate_query, module.rotate_key):
        with pytest.raises(InputError, match=r"T-RoPE expects \(batch, length\) \(2, 3\), one time for each"):
            inspect.unwrap(rotate.__func__)(module, q, time=torch.zeros(shape, dtype=torch.int64))


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
