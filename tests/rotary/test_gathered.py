"""The gathered rotation against one 2x2 matrix a pair, forward and backward."""

import inspect

import pytest
import torch

from rota.errors import InputError
from rota.rotary import rotate, rotate_gathered, rotate_gathered_reference, rotate_reference, unit_points

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
    exact = rotate_gathered_reference(x.detach(), TURNS, INDEX)
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


def test_it_can_be_differentiated_twice() -> None:
    x = features(torch.float64, strided=True).requires_grad_()
    points = unit_points(TURNS, torch.float64)
    assert torch.autograd.gradcheck(lambda a: rotate_gathered(a, points, INDEX), x)
    assert torch.autograd.gradgradcheck(lambda a: rotate_gathered(a, points, INDEX), x)


def test_points_that_are_learnt_get_their_gradient() -> None:
    x = features(torch.float64, strided=False)
    found = []
    for rotation in (
        lambda turns: rotate_gathered(x, unit_points(turns, torch.float64), INDEX),
        lambda turns: rotate_gathered_reference(x, turns, INDEX),
    ):
        turns = TURNS.double().requires_grad_()
        rotation(turns).pow(3).sum().backward()
        found.append(turns.grad)
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("dims", [(0, None), (None, 0), (0, 0), (2, 1)])
def test_vmap(dims: tuple[int | None, int | None]) -> None:
    x = features(torch.float32, strided=False)
    points = unit_points(TURNS)
    many_x = x if dims[0] is None else torch.stack((x, 2 * x), dims[0])
    many_points = points if dims[1] is None else torch.stack((points, points.conj()), dims[1])
    got = torch.vmap(lambda a, p: rotate_gathered(a, p, INDEX), dims)(many_x, many_points)
    for j in range(2):
        one_x = x if dims[0] is None else (j + 1) * x
        one = rotate_gathered(one_x, points if dims[1] is None or j == 0 else points.conj(), INDEX)
        torch.testing.assert_close(got[j], one, rtol=0, atol=1e-6)


def test_bfloat16_is_rounded_once() -> None:
    x = features(torch.bfloat16, strided=True)
    points = unit_points(TURNS)
    assert torch.equal(
        rotate_gathered(x, points, INDEX), rotate_gathered(x.float(), points, INDEX).bfloat16()
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(5, 2, 700, 48), (1, 2, 3000, 48), (1, 200, 20, 96)])
@pytest.mark.parametrize("odd", [True, False])
def test_blocks(dtype: torch.dtype, shape: tuple[int, ...], odd: bool) -> None:
    """What is turned block by block, of any longest axis, equals the rotation by all points at once."""
    batch, heads, length, features = shape
    generator = torch.Generator().manual_seed(3)
    turns = torch.rand(batch, length, 4, generator=generator) - 0.5
    index = torch.randint(4, (heads, features // 2), generator=generator)
    x = torch.randn(*shape[:-1], features + odd, generator=generator)[..., :features].to(dtype)
    x = x.contiguous().requires_grad_() if not odd else odd_rows(x).requires_grad_()
    out = rotate_gathered(x, unit_points(turns), index)
    every = turns[:, :, index].transpose(1, 2)
    torch.testing.assert_close(out, rotate(x, every), rtol=0, atol=1e-6)
    (grad,) = torch.autograd.grad(out.float().sum(), x)
    torch.testing.assert_close(grad, rotate(torch.ones_like(x), -every), rtol=0, atol=1e-6)


def odd_rows(x: torch.Tensor) -> torch.Tensor:
    return torch.cat((x, x[..., :1]), -1)[..., :-1].detach()


@pytest.mark.parametrize("wrong", [torch.int64, torch.bool, torch.complex64])
def test_features_that_are_no_floats_are_refused(wrong: torch.dtype) -> None:
    with pytest.raises(InputError, match=rf"features are {wrong}: expected floats"):
        inspect.unwrap(rotate_gathered)(torch.ones(3, 2, 5, 6).to(wrong), unit_points(TURNS), INDEX)


def test_arguments_of_another_kind_are_refused() -> None:
    bare, x, points = inspect.unwrap(rotate_gathered), torch.zeros(3, 2, 5, 6), unit_points(TURNS)
    with pytest.raises(InputError, match=r"index: expected a torch\.int64 tensor, got list"):
        bare(x, points, INDEX.tolist())
    with pytest.raises(InputError, match=r"index of shape \(3,\): expected \(heads, pairs\)"):
        bare(x, points, INDEX[0])
    with pytest.raises(InputError, match=r"points of shape \(5, 4\): expected \(batch, length, distinct\)"):
        bare(x, points[0], INDEX)


def test_many_gradients_at_once() -> None:
    x = features(torch.float64, strided=True).requires_grad_()
    points = unit_points(TURNS, torch.float64)
    assert torch.autograd.gradcheck(lambda a: rotate_gathered(a, points, INDEX), x, check_batched_grad=True)


@pytest.mark.parametrize("func", [False, True])
def test_a_compiler_keeps_the_few_points_for_backward(unchecked_shapes: None, func: bool) -> None:
    x = features(torch.float32, strided=False).requires_grad_()
    kept: list[int] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor.numel())
        return tensor

    def turned(a: torch.Tensor) -> torch.Tensor:
        return rotate_gathered(a, unit_points(TURNS), INDEX)

    def derivative(a: torch.Tensor) -> torch.Tensor:
        return torch.func.grad(lambda b: turned(b).pow(3).sum())(a)

    wanted = derivative(x)
    if func:
        got = torch.compile(derivative, fullgraph=True, backend="aot_eager")(x)
    else:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            out = torch.compile(turned, fullgraph=True, backend="aot_eager")(x)
        assert kept
        assert sum(kept) <= 2 * TURNS.numel() + INDEX.numel()
        (got,) = torch.autograd.grad(out, x, 3 * out.detach().square())
    torch.testing.assert_close(got, wanted, rtol=0, atol=2e-5)


@pytest.mark.parametrize("shape", [(3, 2, 4, 6), (2, 2, 5, 6), (3, 1, 5, 6), (3, 2, 5, 8)])
def test_shapes_that_do_not_fit_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"turn those of \(3, 2, 5, 6\)"):
        inspect.unwrap(rotate_gathered)(torch.zeros(shape), unit_points(TURNS), INDEX)
