"""From a clock to phases: exact, because time stays int64 until a turn has been taken out of it.

float32 steps by 128 s at today's Unix time, so a float timestamp has lost the clock before any cosine is
taken. Both functions measure from the Unix epoch, the one global origin: an origin for each sequence would
invalidate cached keys. They broadcast their arguments elementwise and use no matrix product, which autocast
or TF32 would round. Values are not looked at, which would wait for the device and break a compiled graph:
`rota.rotary.require_clock` looks at them, once, where a log is read.
"""

import torch
from jaxtyping import Float32, Float64, Int64
from torch import Tensor

from rota.errors import InputError


def lattice_turns(
    time: Int64[Tensor, "..."], harmonic: Int64[Tensor, "..."], period: Int64[Tensor, "..."] | int
) -> Float32[Tensor, "..."]:
    """Phase of integer harmonics of a whole period: ``harmonic * time / period``, modulo one turn.

    The residue is exact in int64 for any date as long as ``|harmonic| * period < 2**63``: time is reduced to
    the period before it is multiplied. The turns are then within 4e-7 rad, half a step of float32.

    Args:
        time: Clock ticks since the epoch, negative before it; every int64 is a valid time.
        harmonic: Whole cycles in a period.
        period: Clock ticks, at least 2.

    Returns:
        Turns in ``[-1/2, 1/2)``, of the shape to which the arguments broadcast.

    Raises:
        InputError: An argument is not int64, a number as period is under two ticks, or shapes do not match.
    """
    if isinstance(period, int) and period < 2:
        raise InputError(f"period {period} is under two clock ticks: expected at least 2; use a finer unit")
    period = torch.as_tensor(period, device=time.device)
    for name, value in (("time", time), ("harmonic", harmonic), ("period", period)):
        _check_int64(name, value)
    _check_shapes(time=time, harmonic=harmonic, period=period)
    cycles, turn = harmonic * torch.remainder(time, period), period.double()
    # Whole turns are found in float64 and taken out in int64: exact, and without a slow division of integers.
    whole = (cycles.double() / turn).add_(0.5).floor_().long()
    return _within_half(cycles.sub_(whole.mul_(period)).double() / turn)


def real_turns(
    time: Int64[Tensor, "..."], cycles_per_second: Float64[Tensor, "..."], ticks_per_second: int = 1
) -> Float32[Tensor, "..."]:
    """Phase of real frequencies: the float64 product with time, reduced to one turn, then float32.

    Differentiable in the frequencies; their gradient is summed in float64. Between 1900 and 2200 the turns of
    periods from ten seconds on are within 1e-6 rad in every unit: whole seconds and the rest are multiplied
    apart, so that only one product is large enough for float64 to round.

    Args:
        time: Clock ticks since the epoch (or positions), negative before it.
        cycles_per_second: Frequencies (or cycles per position).
        ticks_per_second: Of the clock.

    Returns:
        Turns in ``[-1/2, 1/2)``, of the shape to which the arguments broadcast.

    Raises:
        InputError: Time is not int64, frequencies are not float64, or shapes do not match.
    """
    _check_int64("time", time)
    if cycles_per_second.dtype != torch.float64:
        raise InputError(
            f"frequencies are {cycles_per_second.dtype}: expected torch.float64; with less the clock is lost"
        )
    _check_shapes(time=time, cycles_per_second=cycles_per_second)
    if ticks_per_second == 1:
        return _within_half(time.double() * cycles_per_second)
    whole = torch.div(time, ticks_per_second, rounding_mode="floor")
    rest = (time - whole * ticks_per_second).double() / ticks_per_second
    return _within_half(_take_out(whole.double() * cycles_per_second) + rest * cycles_per_second)


def _take_out(turns: Tensor) -> Tensor:
    """Take whole turns out of a fresh product; they are constants to a derivative."""
    return turns.sub_((turns.detach() + 0.5).floor_())


def _within_half(turns: Tensor) -> Tensor:
    """Take out whole turns in float64, then cast; what rounds up to half a turn is minus half a turn."""
    rounded = _take_out(turns).float()
    return rounded.sub_((2 * rounded.detach()).floor_().relu_())  # 1 at half a turn, else 0


def _check_int64(name: str, value: Tensor) -> None:
    if value.dtype != torch.int64:
        raise InputError(
            f"{name} is {value.dtype}: expected torch.int64, whole clock ticks; in a float the clock is lost"
        )


def _check_shapes(**named: Tensor) -> None:
    try:
        torch.broadcast_shapes(*(value.shape for value in named.values()))
    except RuntimeError:
        shapes = ", ".join(f"{name} {tuple(value.shape)}" for name, value in named.items())
        raise InputError(
            f"shapes do not match: {shapes}; expected ones that broadcast, for instance time[..., None]"
        ) from None
