"""The loops from int64 times to turns of real frequencies and back, against PyTorch's own operations."""

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import forward_ad

from rota.encodings import LearnableClock, TRoPE
from rota.rotary import native, real_turns
from rota.rotary.phase import turns_of_real

YEARS_300 = 300 * 366 * 86_400
TICKS = pytest.mark.parametrize("ticks", [1, 7, 1000, 10**6])


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """These tests need numba, and say so. What they turn is small."""
    monkeypatch.setattr(native, "LEAST", 1)
    assert native.available(), "numba is not installed: pip install 'rota[fast]'"
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def times(*shape: int, ticks: int = 1, seed: int = 0) -> Tensor:
    most = YEARS_300 * ticks
    return torch.randint(-most, most, shape, generator=torch.Generator().manual_seed(seed))


def normal(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the loops that run from now on."""
    names: list[str] = []
    run = native._run

    def noting(name: str, *rest: object) -> None:
        names.append(name)
        run(name, *rest)

    monkeypatch.setattr(native, "_run", noting)
    return names


SHAPES = {
    "tokens": ((64, 200, 1), (32,)),
    "heads": ((8, 1, 200, 1), (4, 1, 32)),
    "heads of each row": ((8, 1, 50, 1), (8, 4, 1, 5)),
    "a row": ((300, 1), (7,)),
    "each token its own": ((6, 70, 1), (6, 70, 3)),
    "one pair": ((6, 70, 1), (1,)),
}


@TICKS
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("shape", "frequencies"), SHAPES.values(), ids=SHAPES)
def test_bit_for_bit_as_pytorch(
    shape: tuple[int, ...],
    frequencies: tuple[int, ...],
    threads: int,
    ticks: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.set_num_threads(threads)
    time, cycles, names = times(*shape, ticks=ticks), normal(*frequencies), counted(monkeypatch)
    assert torch.equal(real_turns(time, cycles, ticks), turns_of_real(time, cycles, ticks))
    assert names == ["real_turns"]


@settings(max_examples=200)
@given(
    time=st.integers(-(2**63), 2**63 - 1),
    cycles=st.floats(width=64) | st.sampled_from([0.5, -0.5, 0.25, 1.5, 1e-300]),
    ticks=st.sampled_from([1, 2, 1000, 10**9]),
)
def test_bit_for_bit_at_any_number(time: int, cycles: float, ticks: int) -> None:
    numbers = torch.tensor([[time]]), torch.tensor([cycles], dtype=torch.float64)
    turns = native.real_turns(*numbers, ticks)
    assert turns is not None, "left to PyTorch"
    torch.testing.assert_close(turns, turns_of_real(*numbers, ticks), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    "laid_out",
    [
        lambda time: time.transpose(0, 1).contiguous().transpose(0, 1),
        lambda time: time.repeat_interleave(2, 1)[:, ::2],
        lambda time: time[:1].expand(5, -1, -1),
        lambda time: torch.cat((time, time), -1)[..., :1],
    ],
)
def test_however_times_lie_in_memory(laid_out: object) -> None:
    assert callable(laid_out)
    time, cycles = laid_out(times(5, 70, 1)), normal(16)
    assert torch.equal(real_turns(time, cycles), turns_of_real(time, cycles, 1))
    learnt = cycles.clone().requires_grad_()
    real_turns(time, learnt).backward(torch.ones(5, 70, 16))
    wanted = time.double().sum().expand(16)
    torch.testing.assert_close(learnt.grad, wanted, rtol=1e-12, atol=0)


def test_others_are_left_to_pytorch() -> None:
    """Such as each pair's own time, one number for a frequency, and none at all."""
    for time, cycles in (
        (times(3, 4), normal(4)),
        (times(3, 1), normal(1)[0]),
        (times(0, 1), normal(4)),
        (times(1)[0], normal(4)),
    ):
        assert native.real_turns(time, cycles, 1) is None
        assert torch.equal(real_turns(time, cycles), turns_of_real(time, cycles, 1))


@TICKS
@pytest.mark.parametrize(("shape", "frequencies"), SHAPES.values(), ids=SHAPES)
def test_the_gradient_of_the_frequencies(
    shape: tuple[int, ...], frequencies: tuple[int, ...], ticks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    time, cycles, names = (
        times(*shape, ticks=ticks),
        normal(*frequencies).requires_grad_(),
        counted(monkeypatch),
    )
    turns = real_turns(time, cycles, ticks)
    weight = normal(*turns.shape, seed=2).float()
    (found,) = torch.autograd.grad(turns, cycles, weight)
    (wanted,) = torch.autograd.grad(turns_of_real(time, cycles, ticks), cycles, weight)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12 * float(wanted.abs().max()))
    by_token = len(frequencies) > 1 and frequencies[-2] > 1
    assert names == ["real_turns"] + ["sum_by_time"] * (not by_token)


def test_the_same_gradient_from_any_number_of_threads() -> None:
    time, cycles = times(64, 200, 1), normal(32).requires_grad_()
    turns, weight = real_turns(time, cycles), normal(64, 200, 32).float()
    found = []
    for threads in (1, 2, 3, 2):
        torch.set_num_threads(threads)
        found.append(torch.autograd.grad(turns, cycles, weight, retain_graph=True)[0])
    assert all(torch.equal(one, found[0]) for one in found)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # PyTorch's own use
def test_derivatives_of_every_kind() -> None:
    """Twice, many at once, forward, and after a change in place."""
    time, cycles = (
        torch.tensor([[[3], [5]]]),
        torch.tensor([0.03, 0.07], dtype=torch.float64, requires_grad=True),
    )
    turns = real_turns(time, cycles)
    assert torch.autograd.gradgradcheck(
        lambda weight, f: (real_turns(time, f) * weight).double(),
        (normal(2).requires_grad_(), cycles),
        eps=1e-2, atol=1e-2,
    )  # fmt: skip
    (many,) = torch.autograd.grad(
        turns, cycles, torch.eye(4).view(4, 1, 2, 2), is_grads_batched=True, retain_graph=True
    )
    assert many.tolist() == [[3, 0], [0, 3], [5, 0], [0, 5]]
    mapped = torch.func.vmap(lambda g: torch.autograd.grad(turns, cycles, g, retain_graph=True)[0])
    assert torch.equal(mapped(torch.eye(4).view(4, 1, 2, 2)), many)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(cycles.detach(), torch.ones(2, dtype=torch.float64))
        tangent = forward_ad.unpack_dual(real_turns(time, dual)).tangent
    assert tangent is not None
    assert tangent.tolist() == [[[3, 3], [5, 5]]]
    turns.mul_(2)
    turns.backward(torch.ones(1, 2, 2))
    assert cycles.grad is not None
    assert cycles.grad.tolist() == [16, 16]


@pytest.mark.parametrize("recipe", [TRoPE(), LearnableClock()], ids=["trope", "learnable clock"])
def test_a_layer_trains_alike_with_it_and_without(recipe: TRoPE | LearnableClock) -> None:
    layer = recipe.build(head_dim=32, num_heads=4)
    generator = torch.Generator().manual_seed(3)
    q, k = (torch.randn(3, 50, 4, 32, generator=generator).transpose(1, 2).requires_grad_() for _ in range(2))
    time = 1_600_000_000 + torch.randint(0, 10**7, (3, 50), generator=generator)

    def step() -> list[Tensor]:
        rotated = layer(q, k, time, time)
        logits = rotated[0] @ rotated[1].mT
        inputs = (q, k, *layer.parameters())
        return [*rotated, *torch.autograd.grad(logits.square().sum(), inputs)]

    found = step()
    with native.plain_pytorch():
        wanted = step()
    for one, two in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5 * float(two.detach().abs().max()))
