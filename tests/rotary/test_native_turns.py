"""The loop from int64 times to turns, against PyTorch's own operations and whole numbers of Python."""

from collections.abc import Iterator
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rota.encodings import ClockRoPE, HarmonicRotation
from rota.kernels import VonMises, WrappedGaussian
from rota.rotary import native
from rota.rotary.phase import turns_of_lattice

YEARS_300 = 300 * 366 * 86_400 * 10**6  # microseconds


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """These tests need numba, and say so. What they turn is small."""
    monkeypatch.setattr(native, "LEAST", 1)
    assert native.available(), "numba is not installed: pip install 'rota[fast]'"
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def found(time: Tensor, harmonic: Tensor, period: Tensor, *, small: bool) -> Tensor:
    turns = native.turns_of_lattice(time, harmonic, period, small=small)
    assert turns is not None, "left to PyTorch"
    return turns


def integers(*shape: int, low: int, high: int, seed: int = 0) -> Tensor:
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed))


TIMES = {
    "of our age": (-YEARS_300, YEARS_300),
    "around the epoch": (-200, 200),
    "any": (-(2**63), 2**63 - 1),
    "where float64 begins to round": (2**52 - 100, 2**52 + 100),
}
PERIODS = {
    "one day": [86_400],
    "microseconds": [86_400 * 10**6],
    "short": [2],
    "several": [86_400, 3600, 2, 7 * 86_400 + 1, 365],
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("periods", PERIODS.values(), ids=PERIODS)
@pytest.mark.parametrize("low_and_high", TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("small", [True, False])
def test_bit_for_bit_as_pytorch(
    low_and_high: tuple[int, int], periods: list[int], threads: int, small: bool
) -> None:
    torch.set_num_threads(threads)
    low, high = low_and_high
    time = integers(64, 200, low=low, high=high)
    harmonic, period = torch.tensor([0, 1, -3, 12_345, 7]), torch.tensor(periods)
    wanted = turns_of_lattice(time[..., None], harmonic, period, small=small)
    assert torch.equal(found(time, harmonic, period, small=small), wanted)


@pytest.mark.parametrize("period", [3, 86_399, 2**26 + 1, 2**51 + 1, 2**53 + 1, 2**61 + 1])
def test_beside_whole_periods(period: int) -> None:
    """Where a quotient that is rounded to a whole number would be a period off, up to what float64 holds."""
    for most in (10**10, 2**52 - 1, 2**62):
        whole = most // period
        counts = sorted({0, 1, -1, whole, -whole, whole - 1, whole // 2, 1 - whole})
        time = torch.tensor([[count * period + beside for count in counts for beside in (-1, 0, 1)]])
        one, every = torch.tensor([1]), torch.tensor([period])
        wanted = turns_of_lattice(time[..., None], one, every)
        assert torch.equal(found(time, one, every, small=False), wanted)


@settings(max_examples=200)
@given(
    time=st.integers(-(2**63), 2**63 - 1),
    period=st.integers(2, 2**40) | st.integers(2, 2**62),
    data=st.data(),
)
def test_exact_in_whole_numbers(time: int, period: int, data: st.DataObject) -> None:
    most = (2**63 - 1) // period
    harmonic = data.draw(st.integers(-most, most))
    small = abs(harmonic) * period < 2**52
    numbers = torch.tensor([[time]]), torch.tensor([harmonic]), torch.tensor([period])
    turns = found(*numbers, small=small)
    assert torch.equal(turns, turns_of_lattice(numbers[0][..., None], *numbers[1:], small=small))
    exact = Fraction(harmonic * time % period, period)
    apart = (Fraction(float(turns)) - exact) % 1
    assert min(apart, 1 - apart) <= Fraction(1, 2**25)  # half a step of float32 just under half a turn
    assert -0.5 <= float(turns) < 0.5


LAID_OUT = {
    "contiguous": lambda time: time,
    "length first": lambda time: time.t().contiguous().t(),
    "every second token": lambda time: time.repeat_interleave(2, 1)[:, ::2],
    "part of a row": lambda time: torch.cat((time, time), 1)[:, 3 : 3 + time.shape[1]],
    "one row for all": lambda time: time[:1].expand(3, -1),
    "one token a row": lambda time: time[:, :1],
}


@pytest.mark.parametrize("laid_out", LAID_OUT)
def test_however_times_lie_in_memory(laid_out: str) -> None:
    """Where a row's times do not follow each other they may be left to PyTorch; the turns are the same."""
    time = LAID_OUT[laid_out](integers(3, 70, low=-(10**10), high=10**10))
    clock = HarmonicRotation(torch.tensor([[1, 5, 2]]), torch.tensor([86_400, 3600, 86_400]), num_heads=1)
    with native.plain_pytorch():
        wanted = clock._turns(time)
    assert torch.equal(clock._turns(time), wanted)


def test_periods_that_are_none_are_left_to_pytorch() -> None:
    for wrong in (0, 1, -86_400):
        time, harmonic, period = torch.tensor([[5]]), torch.tensor([1, 2]), torch.tensor([86_400, wrong])
        assert native.turns_of_lattice(time, harmonic, period, small=True) is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("kv_heads", [4, 2])
def test_the_clock_turns_alike_with_it_and_without(dtype: torch.dtype, kv_heads: int) -> None:
    """Rows of 16 pairs leave PyTorch nothing for loops that may fuse."""
    clock = ClockRoPE([WrappedGaussian("24h", "2h"), VonMises("7d", 3.0)]).build(
        head_dim=64, num_heads=4, num_kv_heads=kv_heads
    )
    generator = torch.Generator().manual_seed(1)
    q = torch.randn(5, 100, 4, 64, generator=generator).to(dtype).transpose(1, 2)
    k = torch.randn(5, 100, kv_heads, 64, generator=generator).to(dtype).transpose(1, 2)
    time = integers(5, 100, low=0, high=2 * 10**9)
    with native.plain_pytorch():
        wanted = clock(q, k, time, time)
    for one, two in zip(clock(q, k, time, time), wanted, strict=True):
        assert torch.equal(one, two)


def test_of_the_loops_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    names, run = [], native._run

    def noting(name: str, *rest: object) -> None:
        names.append(name)
        run(name, *rest)

    monkeypatch.setattr(native, "_run", noting)
    clock = ClockRoPE([WrappedGaussian("24h", "2h")]).build(head_dim=8, num_heads=2)
    x, time = torch.ones(2, 2, 3, 8), integers(2, 3, low=0, high=10**9)
    clock(x, x, time, time)
    assert names == ["turns_of_lattice", "turn_gathered", "turn_gathered"]
    names.clear()
    clock(x, x, time, time.clone())
    assert names == ["turns_of_lattice", "turn_gathered"] * 2
    torch.func.vmap(lambda one: clock(one, one, time, time)[0])(torch.stack((x, x)))
    torch.func.vmap(lambda ticks: clock(x, x, ticks, ticks)[0])(torch.stack((time, time)))
