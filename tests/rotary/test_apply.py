"""The rotation against one 2x2 matrix a pair, forward and backward, however the input lies in memory."""

import inspect
import math
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rota.errors import InputError
from rota.rotary import (
    lattice_turns,
    lattice_turns_reference,
    rotate,
    rotate_by,
    rotate_reference,
    unit_points,
)
from rota.rotary.blocks import BLOCK

TOLERANCE = {torch.float64: 1e-14, torch.float32: 1e-6, torch.bfloat16: 0.02, torch.float16: 2e-3}
LAYOUTS = pytest.mark.parametrize("layout", ["interleaved", "half"])


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def phases(*shape: int, seed: int = 1) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) - 0.5


def odd_offset(x: Tensor) -> Tensor:
    """The same numbers one place further on in memory, contiguous but not aligned to pairs."""
    return torch.cat((x.new_zeros(1), x.flatten()))[1:].view(x.shape)


def odd_row(x: Tensor) -> Tensor:
    """The same numbers in rows of odd length."""
    return torch.cat((x, x.new_zeros(*x.shape[:-1], 1)), -1)[..., :-1]


LAID_OUT = {
    "contiguous": lambda x: x,
    "heads transposed": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "features transposed": lambda x: x.mT.contiguous().mT,
    "every second feature": lambda x: x.repeat_interleave(2, -1)[..., ::2],
    "odd offset": odd_offset,
    "odd rows": odd_row,
    "one row, odd": lambda x: odd_row(x[:1, :1, :1]),
    "expanded": lambda x: x[:, :1].expand(-1, 3, -1, -1),
}


@LAYOUTS
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("pairs", [4, 3, 1])  # 3 and 1: partial rotary
@pytest.mark.parametrize("laid_out", LAID_OUT)
def test_against_the_reference(layout: str, dtype: torch.dtype, pairs: int, laid_out: str) -> None:
    x = LAID_OUT[laid_out](normal(2, 3, 5, 8, dtype=dtype))
    kept, turns = x.clone(), phases(2, 1, 5, pairs)[: len(x), :, : x.shape[2]]
    got = rotate(x, turns.float() if dtype != torch.float64 else turns, layout)
    wanted = rotate_reference(x, turns.float() if dtype != torch.float64 else turns, layout)
    assert got.dtype == dtype
    assert got.shape == x.shape
    torch.testing.assert_close(got.double(), wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    assert torch.equal(x, kept)  # the input is left alone
    assert torch.equal(got[..., 2 * pairs :], x[..., 2 * pairs :])


@LAYOUTS
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("laid_out", LAID_OUT)
def test_gradients_against_the_reference(layout: str, dtype: torch.dtype, laid_out: str) -> None:
    base = normal(2, 3, 5, 8, dtype=dtype)
    rows = LAID_OUT[laid_out](base).shape
    turns, weight = phases(*rows[:-1], 3), normal(*rows, seed=2, dtype=dtype)
    gradients = []
    for rotation in (rotate, rotate_reference):
        x, t = base.clone().requires_grad_(), turns.clone().requires_grad_()
        (rotation(LAID_OUT[laid_out](x), t, layout) * weight).sum().backward()
        gradients.append((x.grad, t.grad))
    for fast, slow in zip(*gradients, strict=True):
        assert fast.dtype == slow.dtype
        scale = 10 * TOLERANCE[dtype]
        torch.testing.assert_close(fast, slow, rtol=scale, atol=scale * float(slow.abs().max()))


@LAYOUTS
def test_gradcheck(layout: str) -> None:
    x, turns = normal(2, 3, 7, dtype=torch.float64), phases(3, 3)
    assert torch.autograd.gradcheck(
        lambda a, b: rotate(a, b, layout), (x.requires_grad_(), turns.requires_grad_())
    )
    assert torch.autograd.gradgradcheck(lambda a, b: rotate(a, b, layout), (x, turns))


def test_orientation_and_layouts() -> None:
    quarter = torch.tensor([0.25])
    torch.testing.assert_close(rotate(torch.tensor([1.0, 0.0]), quarter), torch.tensor([0.0, 1.0]))
    torch.testing.assert_close(rotate(torch.tensor([0.0, 1.0]), quarter), torch.tensor([-1.0, 0.0]))
    x, turns = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), torch.tensor([0.25, -0.25])
    torch.testing.assert_close(rotate(x, turns), torch.tensor([-2.0, 1.0, 4.0, -3.0, 5.0]))
    torch.testing.assert_close(rotate(x, turns, "half"), torch.tensor([-3.0, 4.0, 1.0, -2.0, 5.0]))
    order = [0, 2, 1, 3, 4]  # the two layouts are one rotation of features in another order
    torch.testing.assert_close(rotate(x[order], turns, "half"), rotate(x, turns)[order])


@pytest.mark.parametrize(
    ("x", "turns"), [((0, 4), (0, 2)), ((2, 0, 4), (2,)), ((2, 4), (2, 0)), ((4,), (2,))]
)
@LAYOUTS
def test_empty_and_small(x: tuple[int, ...], turns: tuple[int, ...], layout: str) -> None:
    features = normal(*x)
    got = rotate(features, phases(*turns).float(), layout)
    assert got.shape == x
    if turns[-1] == 0:
        assert torch.equal(got, features)


@settings(deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=2), st.floats(-50, 50), st.floats(-50, 50))
def test_norm_is_kept_turns_add_and_the_inverse_undoes(pair: list[float], one: float, two: float) -> None:
    x = torch.tensor(pair, dtype=torch.float64)
    first, second = torch.tensor([one]).double(), torch.tensor([two]).double()
    turned = rotate(x, first)
    scale = math.hypot(*pair) * 1e-12 + 1e-300  # subnormal numbers have fewer digits
    assert abs(float(turned.norm() - x.norm())) <= scale
    torch.testing.assert_close(rotate(turned, -first), x, rtol=0, atol=scale)
    torch.testing.assert_close(rotate(turned, second), rotate(x, first + second), rtol=0, atol=scale)


def test_bfloat16_is_rounded_once() -> None:
    x, turns = normal(64, 32, dtype=torch.bfloat16), phases(64, 16).float()
    assert torch.equal(rotate(x, turns), rotate(x.float(), turns).bfloat16())


@LAYOUTS
def test_autocast_changes_nothing(layout: str) -> None:
    x, turns = normal(3, 5, 8), phases(5, 4).float()
    with torch.autocast("cpu", torch.bfloat16):
        inside = rotate(x, turns, layout)
    assert torch.equal(inside, rotate(x, turns, layout))


def test_what_cannot_be_turned_is_refused() -> None:
    with pytest.raises(InputError, match=r'layout \'neox\': expected "interleaved" or "half"'):
        rotate(torch.zeros(4), torch.zeros(2), "neox")
    with pytest.raises(
        InputError, match="3 phases need 6 features; x has 4: give it more, or at most 2 phases"
    ):
        rotate(torch.zeros(4), torch.zeros(3))
    bare = inspect.unwrap(rotate)
    for wrong in (torch.int64, torch.bool, torch.complex64):
        with pytest.raises(InputError, match=rf"features are {wrong}: expected floats"):
            bare(torch.zeros(4, dtype=wrong), torch.zeros(2))
        with pytest.raises(InputError, match=rf"turns are {wrong}: expected floats"):
            bare(torch.zeros(4), torch.zeros(2, dtype=wrong))
    for none in (0.5, [0.5, 0.5], None, torch.zeros(2).numpy()):
        with pytest.raises(InputError, match=r"turns: expected a torch\.Tensor, got"):
            bare(torch.zeros(4), none)
        with pytest.raises(InputError, match=r"x: expected a torch\.Tensor, got"):
            bare(none, torch.zeros(2))
    with pytest.raises(InputError, match="turns are a single number"):
        bare(torch.zeros(4), torch.tensor(0.5))
    with pytest.raises(InputError, match="features are a single number"):
        bare(torch.tensor(1.0), torch.zeros(1))
    with pytest.raises(InputError, match="features on cpu, phases on meta"):
        rotate(torch.zeros(4), torch.zeros(2, device="meta"))
    with pytest.raises(InputError, match=r"points of shape \(2,\): expected those of unit_points"):
        inspect.unwrap(rotate_by)(torch.zeros(4), torch.zeros(2))


@LAYOUTS
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("laid_out", LAID_OUT)
@pytest.mark.parametrize("pairs", [4, 3])
def test_out(layout: str, dtype: torch.dtype, laid_out: str, pairs: int) -> None:
    x = normal(2, 3, 5, 8, dtype=dtype)
    turns = phases(1, 1, 5, pairs)
    wanted = rotate(x, turns, layout)
    out = LAID_OUT[laid_out](torch.zeros_like(x))
    if laid_out not in ("expanded", "one row, odd"):
        assert rotate(x, turns, layout, out=out) is out
        step = {"rtol": 0, "atol": 1e-14 if dtype == torch.float64 else 1e-6}  # loops differ by memory
        torch.testing.assert_close(out, wanted, **step)
        laid = LAID_OUT[laid_out](x.clone())
        assert rotate(laid, turns, layout, out=laid) is laid  # in place
        torch.testing.assert_close(laid, wanted, **step)


@LAYOUTS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("pairs", [4, 3])
@pytest.mark.parametrize("shift", [1, 2, 8, 96])
def test_out_that_shares_some_memory(layout: str, dtype: torch.dtype, pairs: int, shift: int) -> None:
    memory = normal(200, dtype=dtype)
    for forward in (True, False):
        x, out = memory[:96].view(2, 6, 8), memory[shift : shift + 96].view(2, 6, 8)
        x, out = (x, out) if forward else (out, x)
        turns = phases(6, pairs).float()
        wanted = rotate(x.clone(), turns, layout)
        assert rotate(x, turns, layout, out=out) is out
        torch.testing.assert_close(out, wanted, rtol=0, atol=1e-6)


@LAYOUTS
def test_rows_beside_each_other_may_be_in_and_out(layout: str) -> None:
    both, turns = normal(5, 16), phases(5, 4).float()
    x, out = both[:, :8], both[:, 8:]
    wanted = rotate(x.clone(), turns, layout)
    torch.testing.assert_close(rotate(x, turns, layout, out=out), wanted, rtol=0, atol=1e-6)


LARGE = (3, 2, 700, 96)  # more than one block


@LAYOUTS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("laid_out", ["contiguous", "odd offset", "heads transposed"])
@pytest.mark.parametrize("shared", [(3, 1, 700, 48), (700, 40), (3, 2, 1, 48), (1, 48)])
def test_blocks(layout: str, dtype: torch.dtype, laid_out: str, shared: tuple[int, ...]) -> None:
    """What is turned block by block, forward and backward, equals what is turned at once."""
    base, turns, weight = (
        normal(*LARGE, dtype=dtype),
        phases(*shared).float(),
        normal(*LARGE, seed=2, dtype=dtype),
    )
    assert base.numel() > BLOCK
    x = LAID_OUT[laid_out](base).detach().requires_grad_()
    wanted = torch.stack([rotate(row, turn, layout) for row, turn in zip(base, by_row(turns), strict=True)])
    learnt = turns.clone().requires_grad_()
    got = rotate(x, learnt, layout)
    torch.testing.assert_close(got, wanted, rtol=0, atol=1e-6)
    found = torch.autograd.grad(got, (x, learnt), weight)
    slow = base.double().requires_grad_(), turns.double().requires_grad_()
    exact = torch.autograd.grad(rotate(*slow, layout), slow, weight.double())
    for one, two in zip(found, exact, strict=True):
        scale = float(two.abs().max())
        torch.testing.assert_close(
            one.double(), two, rtol=0, atol=scale * (0.02 if dtype != torch.float32 else 1e-5)
        )
    inside = LAID_OUT[laid_out](base.clone())
    torch.testing.assert_close(rotate(inside, turns, layout, out=inside), wanted, rtol=0, atol=1e-6)


def by_row(turns: Tensor) -> list[Tensor]:
    return [turns[min(row, len(turns) - 1)] if turns.ndim == 4 else turns for row in range(3)]


def test_a_trace_holds_for_other_lengths(unchecked_shapes: None) -> None:
    """A tracer would count the blocks of its example for good."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own: it has seen Python's ifs
        traced = torch.jit.trace(
            lambda a, b: rotate(a, b), (normal(*LARGE).bfloat16(), phases(700, 48).float())
        )
        x, turns = normal(3, 2, 900, 96).bfloat16(), phases(900, 48).float()
        assert torch.equal(traced(x, turns), rotate(x, turns))


def test_out_that_does_not_fit_is_refused() -> None:
    x, turns = normal(2, 4), phases(2, 2)
    with pytest.raises(InputError, match="out is expanded"):
        rotate(x, turns, out=torch.zeros(1, 4).expand(2, 4))
    with pytest.raises(InputError, match="out on meta, features on cpu"):
        rotate(x, turns, out=torch.zeros(2, 4, device="meta"))
    for out in (torch.zeros(2, 5), torch.zeros(4), torch.zeros(2, 4, dtype=torch.float64)):
        with pytest.raises(InputError, match=r"out is torch\.float\d\d of shape"):
            inspect.unwrap(rotate)(x, turns, out=out)
    for learnt in ((x.clone().requires_grad_(), turns), (x, turns.clone().requires_grad_())):
        with pytest.raises(InputError, match="out cannot be used where a gradient is wanted"):
            rotate(*learnt, out=torch.zeros(2, 4))
        with torch.no_grad():
            assert torch.equal(rotate(*learnt, out=torch.zeros(2, 4)), rotate(x, turns))


@LAYOUTS
def test_packed_tokens_grouped_keys_and_one_query(layout: str) -> None:
    """One rotation in all the shapes in which attention keeps its tokens."""
    x, turns = normal(2, 6, 5, 8), phases(2, 1, 5, 4).float()
    wanted = rotate_reference(x, turns, layout).float()
    packed = rotate(x.transpose(1, 2).flatten(0, 1), turns.transpose(1, 2).flatten(0, 1), layout)
    torch.testing.assert_close(packed, wanted.transpose(1, 2).flatten(0, 1), rtol=0, atol=1e-6)
    few = rotate(x[:, ::3], turns, layout)  # two key heads for six query heads
    torch.testing.assert_close(few, wanted[:, ::3], rtol=0, atol=1e-6)
    groups = rotate(x.unflatten(1, (2, 3)), turns.unsqueeze(1), layout)
    torch.testing.assert_close(groups.flatten(1, 2), wanted, rtol=0, atol=1e-6)
    last = rotate(x[:, :, -1:], turns[:, :, -1:], layout)
    torch.testing.assert_close(last, wanted[:, :, -1:], rtol=0, atol=1e-6)


@LAYOUTS
def test_bfloat16_is_within_one_step_of_the_exact_rotation(layout: str) -> None:
    """A step of the component; of one that nearly cancels, of 2**-11 of its pair's length."""
    x = normal(400, 64, dtype=torch.bfloat16)
    time = torch.arange(400)[:, None] * 12_345_677 - 2_208_988_800
    harmonics, day = torch.arange(32), 86_400
    got = rotate(x, lattice_turns(time, harmonics, day), layout).double()
    exact = rotate_reference(x, lattice_turns_reference(time, harmonics, day), layout)
    rest = rotate_reference(x, torch.zeros(400, 32), layout)
    pairs = rest.unflatten(-1, (32, 2)) if layout == "interleaved" else rest.unflatten(-1, (2, 32)).mT
    length = pairs.norm(dim=-1, keepdim=True).expand(-1, -1, 2)
    length = length.flatten(-2) if layout == "interleaved" else length.mT.flatten(-2)
    step = 2.0 ** (torch.maximum(exact.abs(), length / 2**11).log2().floor() - 7)
    assert float(((got - exact).abs() / step).max()) <= 1


def test_a_million_tokens() -> None:
    x = normal(1, 1, 1_000_000, 4)
    time = torch.arange(1_000_000)[:, None] * 600
    turns = lattice_turns(time, torch.tensor([1, 5]), 86_400)
    out = rotate(x, turns)
    for part in (slice(0, 7), slice(-7, None), slice(500_000, 500_007)):
        exact = rotate_reference(
            x[0, 0, part], lattice_turns_reference(time[part], torch.tensor([1, 5]), 86_400)
        )
        torch.testing.assert_close(out[0, 0, part].double(), exact, rtol=0, atol=3e-6)


@pytest.mark.parametrize("turns", [(3, 4), (2, 5, 4), (1, 1, 2, 5, 4), (1, 1, 1, 1, 4)])
def test_phases_that_do_not_broadcast_are_named(turns: tuple[int, ...]) -> None:
    x = torch.zeros(2, 1, 5, 8)
    with pytest.raises(
        InputError, match=r"phases of shape .* do not broadcast to features of shape \(2, 1, 5, 8\)"
    ):
        inspect.unwrap(rotate)(x, torch.zeros(turns))
    with pytest.raises(InputError, match=r"phases of shape .* do not broadcast"):
        inspect.unwrap(rotate_by)(x, unit_points(torch.zeros(turns)))


def test_points_may_be_shared() -> None:
    q, k, turns = normal(2, 3, 5, 8), normal(2, 1, 5, 8), phases(2, 1, 5, 4).float()
    points = unit_points(turns)
    for layout in ("interleaved", "half"):
        assert torch.equal(rotate_by(q, points, layout), rotate(q, turns, layout))
        assert torch.equal(rotate_by(k, points, layout), rotate(k, turns, layout))
    wide = rotate_by(q.double(), points)  # float64 features are not narrowed
    torch.testing.assert_close(wide.norm(dim=-1), q.double().norm(dim=-1), rtol=1e-6, atol=0)
    assert wide.dtype == torch.float64


def test_points_that_are_learnt_get_their_gradient() -> None:
    x = normal(2, 3, 4, dtype=torch.float64)
    found = []
    for rotation in (lambda t: rotate_by(x, unit_points(t, x.dtype)), lambda t: rotate_reference(x, t)):
        turns = phases(3, 2).requires_grad_()
        rotation(turns).pow(3).sum().backward()
        found.append(turns.grad)
    torch.testing.assert_close(*found)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_a_compiled_rotation_equals_the_eager_one(unchecked_shapes: None, layout: str) -> None:
    x, turns = normal(2, 3, 5, 9), phases(2, 1, 5, 4).float()
    found = []
    for function in (rotate, torch.compile(rotate, fullgraph=True, backend="aot_eager")):
        a, b = x.clone().requires_grad_(), turns.clone().requires_grad_()
        out = function(a, b, layout)
        out.square().mul(x).sum().backward()
        found.append((out, a.grad, b.grad))
    for eager, fast in zip(*found, strict=True):
        torch.testing.assert_close(eager, fast, rtol=1e-5, atol=2e-5)
