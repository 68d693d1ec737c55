"""From a clock to phases: exact, because time stays int64 until a turn has been taken out of it.

float32 steps by 128 s at today's Unix time, so a float timestamp has lost the clock before any cosine is
taken. Both functions measure from the Unix epoch, the one global origin: an origin for each sequence would
invalidate cached keys. They broadcast their arguments elementwise and use no matrix product, which autocast
or TF32 would round.
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
    the period before it is multiplied.

    Args:
        time: Clock ticks since the epoch, negative before it.
        harmonic: Whole cycles in a period.
        period: Clock ticks, at least 2.

    Returns:
        Turns in ``[-1/2, 1/2)``, of the shape to which the arguments broadcast.

    Raises:
        InputError: An argument is not int64.
    """
    period = torch.as_tensor(period, device=time.device)
    for name, value in (("time", time), ("harmonic", harmonic), ("period", period)):
        _check_int64(name, value)
    cycles, turn = harmonic * torch.remainder(time, period), period.double()
    # Whole turns are found in float64 and taken out in int64: exact, and without a slow division of integers.
    residue = cycles - torch.floor(cycles.double() / turn + 0.5).long() * period
    return _within_half(residue.double() / turn)


def real_turns(
    time: Int64[Tensor, "..."], cycles_per_second: Float64[Tensor, "..."], ticks_per_second: int = 1
) -> Float32[Tensor, "..."]:
    """Phase of real frequencies: the float64 product with time, reduced to one turn, then float32.

    Differentiable in the frequencies. Over a century, float64 resolves 1e-7 turns of a ten-second period.

    Args:
        time: Clock ticks since the epoch (or positions), negative before it.
        cycles_per_second: Frequencies (or cycles per position).
        ticks_per_second: Of the clock.

    Returns:
        Turns in ``[-1/2, 1/2)``, of the shape to which the arguments broadcast.

    Raises:
        InputError: Time is not int64, or frequencies are not float64.
    """
    _check_int64("time", time)
    if cycles_per_second.dtype != torch.float64:
        raise InputError(
            f"frequencies are {cycles_per_second.dtype}: expected torch.float64; with less the clock is lost"
        )
    turns = time.double() * (cycles_per_second / ticks_per_second)
    return _within_half(turns)


def _within_half(turns: Tensor) -> Tensor:
    """Take out whole turns in float64, then cast; what rounds up to half a turn is minus half a turn."""
    rounded = (turns - torch.floor(turns + 0.5)).float()
    return torch.where(rounded >= 0.5, -0.5, rounded)


def _check_int64(name: str, value: Tensor) -> None:
    if value.dtype != torch.int64:
        raise InputError(
            f"{name} is {value.dtype}: expected torch.int64, whole clock ticks; in a float the clock is lost"
        )
