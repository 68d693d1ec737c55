"""Phases against arithmetic at 50 digits, over three centuries and every unit of the clock."""

import inspect
import math

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rota.errors import InputError
from rota.rotary import lattice_turns, lattice_turns_reference, real_turns, real_turns_reference
from rota.rotary.phase import turns_of_lattice

TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
FIRST, LAST = -2_208_988_800, 7_258_118_400  # 1900-01-01 and 2200-01-01
YEAR = 31_556_952


def moments(unit: str, n: int = 300) -> Tensor:
    rng = np.random.default_rng(0)
    whole = rng.integers(FIRST, LAST, n)
    edges = np.array([FIRST, LAST, 0, 1, -1, 86_400, -86_400, 43_200, -43_200, 43_199, 2**31, -(2**31)])
    seconds = np.concatenate([whole, edges])
    return torch.from_numpy(seconds * TICKS[unit] + rng.integers(0, TICKS[unit], len(seconds)))


def radians_off(turns: Tensor, exact: list[mpmath.mpf]) -> float:
    """Largest distance on the circle."""
    differences = [mpmath.mpf(t) - e for t, e in zip(turns.double().tolist(), exact, strict=True)]
    return float(max(abs(d - mpmath.nint(d)) for d in differences)) * 2 * math.pi


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("period", [86_400, 604_800, YEAR, 3600])
@pytest.mark.parametrize("harmonic", [0, 1, -1, 6, 12, -41, 1000])
def test_lattice_turns_are_exact(unit: str, period: int, harmonic: int) -> None:
    time = moments(unit)
    turns = lattice_turns(time, torch.tensor(harmonic), period * TICKS[unit])
    with mpmath.workdps(50):
        exact = [mpmath.mpf(harmonic) * t / (period * TICKS[unit]) for t in time.tolist()]
        assert radians_off(turns, exact) < 4e-7
    assert turns.dtype == torch.float32
    assert turns.min() >= -0.5
    assert turns.max() < 0.5


@pytest.mark.parametrize("period", [10, 60, 3600, 86_400, 86_399.5, 604_800 * math.pi, YEAR, 100 * YEAR])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_real_turns(unit: str, period: float) -> None:
    frequency = torch.tensor(1 / period, dtype=torch.float64)
    time = moments(unit) if unit != "ns" else moments("us") // 2 * 1000  # ns: int64 is 1677 to 2262
    # By 2200 a ten-second period has done 7e8 turns, of which float64 resolves 1e-7.
    turns = real_turns(time, frequency, TICKS[unit])
    with mpmath.workdps(50):
        exact = [mpmath.mpf(t) / TICKS[unit] * mpmath.mpf(frequency.item()) for t in time.tolist()]
        assert radians_off(turns, exact) < 1e-6
    assert turns.dtype == torch.float32
    assert turns.min() >= -0.5
    assert turns.max() < 0.5


@settings(deadline=None)
@given(
    time=st.integers(-(2**62), 2**62),
    harmonic=st.integers(-1000, 1000),
    period=st.integers(2, 2**52),
)
def test_lattice_turns_law(time: int, harmonic: int, period: int) -> None:
    turns = lattice_turns(torch.tensor(time), torch.tensor(harmonic), period)
    assert -0.5 <= turns.item() < 0.5
    exact = (harmonic * time) % period / period  # Python's integers
    off = (turns.item() - exact + 0.5) % 1 - 0.5
    assert abs(off) < 6e-8
    later = lattice_turns(torch.tensor(time % period + 7 * period), torch.tensor(harmonic), period)
    assert torch.equal(turns, later)  # periodic to the last bit


@settings(deadline=None)
@given(
    time=st.integers(-(2**62), 2**62),
    harmonic=st.integers(-(2**40), 2**40),
    period=st.integers(2, 2**22),
    frequency=st.floats(-0.1, 0.1),
)
def test_fractions_agree(time: int, harmonic: int, period: int, frequency: float) -> None:
    clock, cycles = torch.tensor([time]), torch.tensor([frequency], dtype=torch.float64)
    lattice = lattice_turns(clock, torch.tensor(harmonic), period)
    exact = lattice_turns_reference(clock, torch.tensor(harmonic), period)
    assert abs((float(lattice - exact) + 0.5) % 1 - 0.5) < 6e-8
    real = real_turns(clock % 2**33, cycles)
    exact = real_turns_reference(clock % 2**33, cycles)
    assert abs((float(real - exact) + 0.5) % 1 - 0.5) < 1.6e-7


@settings(deadline=None)
@given(st.integers(-(2**40), 2**40), st.floats(-1e3, 1e3))
def test_real_turns_stay_in_their_turn(time: int, frequency: float) -> None:
    turns = real_turns(torch.tensor(time), torch.tensor(frequency, dtype=torch.float64))
    assert -0.5 <= turns.item() < 0.5


@pytest.mark.parametrize(
    ("time", "period", "turns"),
    [
        (0, 8, 0), (2, 8, 0.25), (4, 8, -0.5), (5, 8, -0.375), (-2, 8, -0.25), (-4, 8, -0.5), (3, 7, 3 / 7),
        (4, 7, -3 / 7), (1, 2, -0.5), (2**31 - 1, 2**32, 0.5 - 2**-32), (2**62, 2**62 + 3, 0),
    ],
)  # fmt: skip
def test_half_a_turn_belongs_to_the_negative_side(time: int, period: int, turns: float) -> None:
    got = lattice_turns(torch.tensor(time), torch.tensor(1), period).item()
    if turns == 0.5 - 2**-32:  # float32 rounds it to half a turn, which is minus half a turn
        turns = -0.5
    assert got == pytest.approx(turns, abs=3e-8)
    assert real_turns(torch.tensor(time), torch.tensor(1 / period).double()).item() >= -0.5


def test_seconds_and_finer_units_agree() -> None:
    time = moments("s")
    for unit, ticks in TICKS.items():
        same = lattice_turns(time * ticks, torch.tensor(3), 86_400 * ticks)
        assert torch.equal(lattice_turns(time, torch.tensor(3), 86_400), same), unit


def test_arguments_broadcast() -> None:
    time = moments("s", 8)[:20].view(4, 5)
    harmonics, periods = torch.tensor([0, 1, -3]), torch.tensor([3600, 86_400, 604_800])
    turns = lattice_turns(time[..., None], harmonics, periods)
    assert turns.shape == (4, 5, 3)
    for j in range(3):
        assert torch.equal(turns[..., j], lattice_turns(time, harmonics[j], int(periods[j])))
    frequencies = harmonics.double() / periods
    assert real_turns(time[..., None], frequencies).shape == (4, 5, 3)
    torch.testing.assert_close(real_turns(time[..., None], frequencies), turns, rtol=0, atol=1e-6)
    assert lattice_turns(torch.zeros(0, dtype=torch.int64)[:, None], harmonics, 60).shape == (0, 3)


def test_gradient_of_real_turns_is_time() -> None:
    frequencies = torch.tensor([1e-5, -2e-6], dtype=torch.float64, requires_grad=True)
    time = torch.tensor([1_700_000_000, -5, 86_400])
    real_turns(time[:, None], frequencies, 10).sum(0).backward(torch.tensor([1.0, 2.0]))
    torch.testing.assert_close(
        frequencies.grad, torch.tensor([1.0, 2.0], dtype=torch.float64) * time.sum() / 10
    )


@pytest.mark.parametrize("wrong", [torch.float32, torch.float64, torch.bfloat16, torch.int32])
def test_a_clock_that_is_not_int64_is_refused(wrong: torch.dtype) -> None:
    lattice, real = inspect.unwrap(lattice_turns), inspect.unwrap(real_turns)  # without the tests' own checks
    time, one, day = torch.tensor([1]), torch.tensor(1), torch.tensor(86_400)
    for name, arguments in (
        ("time", (time.to(wrong), one, day)),
        ("harmonic", (time, one.to(wrong), day)),
        ("period", (time, one, day.to(wrong))),
    ):
        with pytest.raises(InputError, match=rf"{name} is {wrong}: expected torch.int64"):
            lattice(*arguments)
    with pytest.raises(InputError, match=rf"time is {wrong}"):
        real(time.to(wrong), torch.tensor(1.0, dtype=torch.float64))
    with pytest.raises(InputError, match=r"frequencies are torch\.float32: expected torch\.float64"):
        real(time, torch.tensor(1.0))


def test_shapes_and_periods_that_do_not_fit_are_refused() -> None:
    time, three = torch.zeros(2, 4, dtype=torch.int64), torch.ones(3, dtype=torch.int64)
    with pytest.raises(
        InputError, match=r"time \(2, 4\), harmonic \(3,\), period \(\); .*time\[\.\.\., None\]"
    ):
        inspect.unwrap(lattice_turns)(time, three, 7)
    with pytest.raises(InputError, match=r"time \(2, 4\), cycles_per_second \(3,\)"):
        inspect.unwrap(real_turns)(time, three.double())
    for period in (1, 0, -5):
        with pytest.raises(InputError, match=f"period {period} is under two clock ticks"):
            lattice_turns(time, torch.tensor(1), period)


def test_numbers_stand_for_tensors() -> None:
    time = moments("s", 8)
    assert torch.equal(lattice_turns(time, 3, 86_400), lattice_turns(time, torch.tensor(3), 86_400))
    assert torch.equal(real_turns(time, 0.1), real_turns(time, torch.tensor(0.1, dtype=torch.float64)))
    assert torch.equal(real_turns(time, 2), real_turns(time, torch.tensor(2.0, dtype=torch.float64)))


def test_what_would_overflow_is_refused() -> None:
    bare, time = inspect.unwrap(lattice_turns), torch.tensor([1_700_000_000, 5])
    many = torch.tensor([1, 3 * 10**5, -2])
    for harmonic, period in (
        (3 * 10**5, 86_400 * 10**9),
        (-(2**50), 10**9),
        (many[:, None], torch.full((1,), 86_400 * 10**9)),
        (torch.tensor(-(2**63)), 2),
    ):
        with pytest.raises(InputError, match=r"harmonic times period reaches .*: expected under 2\*\*63"):
            bare(time, harmonic, period)
    for period in ([2, 1], [0, 5], [-86_400, 86_400]):
        with pytest.raises(InputError, match=f"period {min(period)} is under two clock ticks"):
            bare(time, torch.tensor([1, 2]), torch.tensor(period))
    large, small = torch.tensor([2**40, 1]), torch.tensor([2**20, 2**60])
    exact = lattice_turns_reference(time[:, None], large, small)  # pair by pair they fit
    torch.testing.assert_close(lattice_turns(time[:, None], large, small).double(), exact, rtol=0, atol=6e-8)
    assert torch.equal(
        torch.vmap(lambda t: lattice_turns(t, large, small))(time), lattice_turns(time[:, None], large, small)
    )


@pytest.mark.parametrize("none", [[1, 2], None, 1.5, "24h", True, torch.ones(2).long().numpy()])
def test_arguments_of_another_kind_are_refused(none: object) -> None:
    lattice, real, time = inspect.unwrap(lattice_turns), inspect.unwrap(real_turns), torch.tensor([1, 2])
    says = r"expected a torch\.int64 tensor, got (list|NoneType|float|str|bool|numpy\.ndarray)"
    with pytest.raises(InputError, match=f"time: {says}"):
        lattice(none, 1, 7)
    with pytest.raises(InputError, match=f"time: {says}"):
        real(none, 0.1)
    with pytest.raises(InputError, match=f"harmonic: {says}"):
        lattice(time, none, 7)
    with pytest.raises(InputError, match=f"period: {says}|period True is under two"):
        lattice(time, 1, none)
    for ticks in (none, 0, -1):
        with pytest.raises(InputError, match=r"ticks_per_second .*: expected a positive int"):
            real(time, 0.1, ticks)
    if not isinstance(none, float):
        with pytest.raises(InputError, match=r"cycles_per_second: expected a torch\.Tensor, got"):
            real(time, none)
    with pytest.raises(InputError, match="period 1180591620717411303424 is beyond int64"):
        lattice(time, 1, 2**70)


def test_every_int64_is_a_time() -> None:
    """No date is out of range for integer harmonics: the first and last tick of int64, and the last ns."""
    time = torch.tensor([-(2**63), 2**63 - 1, -(2**62) - 1, 0])
    turns = lattice_turns(time[:, None], torch.tensor([1, -7, 250]), 86_400 * 10**9)
    exact = lattice_turns_reference(time[:, None], torch.tensor([1, -7, 250]), 86_400 * 10**9)
    torch.testing.assert_close(turns.double(), exact, rtol=0, atol=6e-8)


@settings(max_examples=200)
@given(
    period=st.integers(2, 2**40),
    share=st.floats(-1, 1),
    time=st.integers(-(2**62), 2**62),
)
def test_small_products_give_the_same_bits_in_float64(period: int, share: float, time: int) -> None:
    harmonic = int(share * (2**52 // period - 1))
    times = torch.tensor([time, time + 1, time - period // 2, 0, period // 2])
    given_ = times, torch.tensor([harmonic]), torch.tensor([period])
    assert torch.equal(turns_of_lattice(*given_, small=True), turns_of_lattice(*given_))
