"""The gathered rotation against one 2x2 matrix a pair, forward and backward."""

import pytest
import torch

from rota.rotary import rotate_gathered, rotate_reference, unit_points

TURNS = torch.rand(3, 5, 4, generator=torch.Generator().manual_seed(0)) - 0.5
INDEX = torch.tensor([[0, 3, 3], [2, 1, 0]])  # two heads of three pairs


def features(dtype: torch.dtype, *, strided: bool) -> torch.Tensor:
    x = torch.randn(3, 5, 2, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(dtype)
    x = x.transpose(1, 2)
    return x if strided else x.contiguous()


@pytest.mark.parametrize("strided", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_against_the_reference_forward_and_backward(dtype: torch.dtype, strided: bool) -> None:
    x = features(dtype, strided=strided).detach().requires_grad_()
    out = rotate_gathered(x, unit_points(TURNS, dtype), INDEX)
    turns = TURNS[:, :, INDEX].permute(0, 2, 1, 3)
    exact = rotate_reference(x.detach(), turns)
    tolerance = {torch.float64: 1e-14, torch.float32: 1e-6, torch.bfloat16: 0.02}[dtype]
    assert out.dtype == dtype
    torch.testing.assert_close(out.double(), exact, rtol=0, atol=tolerance)
    weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(2)).to(dtype)
    (grad,) = torch.autograd.grad(out, x, weight)
    torch.testing.assert_close(grad.double(), rotate_reference(weight, -turns), rtol=0, atol=tolerance)


def test_the_input_and_the_points_are_left_as_they_were() -> None:
    x, points = features(torch.float32, strided=False), unit_points(TURNS)
    before = x.clone(), points.clone()
    rotate_gathered(x, points, INDEX)
    assert torch.equal(x, before[0])
    assert torch.equal(points, before[1])


def test_a_second_derivative_is_refused_and_not_wrong() -> None:
    x = features(torch.float32, strided=False).requires_grad_()
    out = rotate_gathered(x, unit_points(TURNS), INDEX)
    (grad,) = torch.autograd.grad(out.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()
