"""Learnable phases: their gradient, what is kept for it, and derivatives of derivatives."""

import math

import pytest
import torch
from torch import Tensor

from rota.rotary import rotate, rotate_reference

LAYOUTS = pytest.mark.parametrize("layout", ["interleaved", "half"])
SHAPE = (2, 3, 5, 8)


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def phases(*shape: int, seed: int = 1) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) - 0.5


@LAYOUTS
@pytest.mark.parametrize("shared", [(2, 1, 5, 4), (5, 4), (4,), (2, 3, 5, 4), (1, 3, 1, 3), (2, 1, 1, 1)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_gradients_against_the_reference(layout: str, shared: tuple[int, ...], dtype: torch.dtype) -> None:
    tolerance = {torch.float64: 1e-13, torch.float32: 1e-6, torch.float16: 4e-3, torch.bfloat16: 0.03}[dtype]
    weight = normal(*SHAPE, seed=2, dtype=dtype)
    found = []
    for rotation in (rotate, rotate_reference):
        x, turns = normal(*SHAPE, dtype=dtype).requires_grad_(), phases(*shared).requires_grad_()
        (rotation(x, turns, layout) * weight).sum().backward()
        found.append((x.grad, turns.grad))
    for fast, slow in zip(*found, strict=True):
        assert fast.dtype == slow.dtype
        torch.testing.assert_close(fast, slow, rtol=0, atol=tolerance * 2 * float(slow.abs().max() + 1))


@LAYOUTS
def test_the_phase_gradient_by_hand(layout: str) -> None:
    """A turn more moves (y0, y1) along 2 pi (-y1, y0)."""
    x, turns = normal(1, 2), torch.tensor([[0.1]], dtype=torch.float64, requires_grad=True)
    out = rotate(x, turns, layout)
    out.backward(torch.tensor([[3.0, 5.0]], dtype=torch.float64))
    (first, second), (tangent,) = out.detach()[0].tolist(), turns.grad[0].tolist()
    assert tangent == pytest.approx(2 * math.pi * (5 * first - 3 * second), rel=1e-12)


@LAYOUTS
@pytest.mark.parametrize("features", [8, 9])
def test_gradcheck_once_and_twice(layout: str, features: int) -> None:
    x, turns = normal(2, 3, features), phases(3, 3)
    both = (x.requires_grad_(), turns.requires_grad_())
    assert torch.autograd.gradcheck(lambda a, b: rotate(a, b, layout), both)
    assert torch.autograd.gradgradcheck(lambda a, b: rotate(a, b, layout), both)
    fixed = turns.detach()
    assert torch.autograd.gradgradcheck(lambda a: rotate(a, fixed, layout), (x,))
    still = x.detach()
    assert torch.autograd.gradgradcheck(lambda b: rotate(still, b, layout), (turns,))


def test_heads_are_summed_in_float32() -> None:
    """4096 heads of which each adds 1, after one that adds 4096: bfloat16 would lose them."""
    x = torch.ones(1, 4096, 1, 2, dtype=torch.bfloat16)
    weight = torch.zeros(1, 4096, 1, 2, dtype=torch.bfloat16)
    weight[..., 1] = 1
    weight[:, 0] *= 4096
    turns = torch.zeros(1, 1, 1, 1, requires_grad=True)
    rotate(x, turns).backward(weight)
    assert float(turns.grad) == pytest.approx(2 * math.pi * (4096 + 4095), rel=1e-6)


def kept_by(x: Tensor, turns: Tensor, layout: str) -> tuple[Tensor, list[Tensor]]:
    kept: list[Tensor] = []

    def pack(tensor: Tensor) -> Tensor:
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = rotate(x, turns, layout)
    return out, kept


@LAYOUTS
@pytest.mark.parametrize("features", [8, 9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_fixed_phase_keeps_no_activation(layout: str, features: int, dtype: torch.dtype) -> None:
    x = normal(2, 64, 5, features, dtype=dtype).requires_grad_()
    turns = phases(2, 1, 5, 4).float()
    _, kept = kept_by(x, turns, layout)
    assert sum(tensor.numel() for tensor in kept) <= 2 * turns.numel()
    out, kept = kept_by(x, turns.requires_grad_(), layout)
    large = [tensor for tensor in kept if tensor.numel() >= x.numel()]
    assert [tensor.data_ptr() for tensor in large] == [out.data_ptr()]


def test_a_changed_output_is_noticed() -> None:
    x, turns = normal(*SHAPE), phases(5, 4).requires_grad_()
    out = rotate(x, turns)
    out.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
