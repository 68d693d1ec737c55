"""From a clock to phases: exact, because time stays int64 until a turn has been taken out of it.

float32 steps by 128 s at today's Unix time, so a float timestamp has lost the clock before any cosine is
taken. Both functions measure from the Unix epoch, the one global origin: an origin for each sequence would
invalidate cached keys. They broadcast their arguments elementwise and use no matrix product, which autocast
or TF32 would round. Times are not looked at, which would wait for the device and break a compiled graph:
`rota.rotary.require_clock` looks at them, once, where a log is read. Harmonics and periods are, where that
costs nothing: in eager mode on the CPU.
"""

import torch
from jaxtyping import Float32, Float64, Int64
from torch import Tensor

from rota.errors import InputError
from rota.rotary.clock import values_known
from rota.rotary.kinds import require_int64, require_tensor
from rota.rotary.one_pass import turns_in_one_pass

__all__ = ["lattice_turns", "real_turns"]

_OVERFLOW = 2**63  # what harmonic * period must stay under


def lattice_turns(
    time: Int64[Tensor, "..."], harmonic: Int64[Tensor, "..."] | int, period: Int64[Tensor, "..."] | int
) -> Float32[Tensor, "..."]:
    """Phase of integer harmonics of a whole period: ``harmonic * time / period``, modulo one turn.

    The residue is exact in int64 for any date as long as ``|harmonic| * period < 2**63``: time is reduced to
    the period before it is multiplied. The turns are then within 4e-7 rad, half a step of float32. What goes
    beyond is refused where values can be seen: numbers, and tensors on the CPU in eager mode.

    Args:
        time: Clock ticks since the epoch, negative before it; every int64 is a valid time.
        harmonic: Whole cycles in a period.
        period: Clock ticks, at least 2.

    Returns:
        Turns in ``[-1/2, 1/2)``, of the shape to which the arguments broadcast.

    Raises:
        InputError: An argument is not int64, shapes do not match, or, where values can be seen, a period is
            under two ticks or its product with the harmonic overflows.
    """
    require_int64("time", time)
    _require_period(period)
    harmonic, period = (
        require_int64(name, _int64(name, value, time.device))
        for name, value in (("harmonic", harmonic), ("period", period))
    )
    _check_shapes(time=time, harmonic=harmonic, period=period)
    require_lattice(harmonic, period)
    return turns_of_lattice(time, harmonic, period)


def turns_of_lattice(time: Tensor, harmonic: Tensor, period: Tensor, *, small: bool = False) -> Tensor:
    """`lattice_turns` of tensors that `require_lattice` has seen.

    Args:
        time: As there.
        harmonic: As there.
        period: As there.
        small: Harmonics times periods are under 2**52: then float64 holds the residue's multiples to the last
            tick, and the same turns, bit for bit, come twice as fast.
    """
    residue, turn = torch.remainder(time, period), period.double()
    if small:
        product = residue.double() * harmonic.double()
        whole = (product / turn).add_(0.5).floor_()
        return _within_half(product.sub_(whole.mul_(turn)).div_(turn))
    cycles = harmonic * residue
    # Whole turns are found in float64 and taken out in int64: exact, and without a slow division of integers.
    whole = (cycles.double() / turn).add_(0.5).floor_().long()
    return _within_half(cycles.sub_(whole.mul_(period)).double() / turn)


def require_lattice(harmonic: Tensor, period: Tensor) -> None:
    """Refuse periods under two ticks, and products with harmonics beyond int64, where values can be seen.

    Raises:
        InputError: There are such.
    """
    if not (harmonic.numel() and period.numel() and values_known(harmonic) and values_known(period)):
        return
    shortest, longest = (int(edge) for edge in torch.aminmax(period))
    _require_period(shortest)
    lowest, highest = (int(edge) for edge in torch.aminmax(harmonic))
    if max(-lowest, highest) * longest < _OVERFLOW:  # which says it for each pair
        return
    # Pair by pair; float64 is off by a part in 2**53, so what it takes for 2**63 may lie just under it.
    largest = float((harmonic.double().abs() * period.double()).max())
    if largest >= _OVERFLOW:
        raise InputError(
            f"harmonic times period reaches {largest:.4g}: expected under 2**63, the range of int64; use a "
            "coarser unit, a shorter period or lower harmonics"
        )


def _require_period(period: object) -> None:
    if isinstance(period, int) and period < 2:
        raise InputError(f"period {period} is under two clock ticks: expected at least 2; use a finer unit")


def _int64(name: str, value: object, device: torch.device) -> object:
    """An int as a tensor beside the times, and anything else as it is."""
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if not -(2**63) <= value < 2**63:
        raise InputError(f"{name} {value} is beyond int64: expected under 2**63; use a coarser unit")
    return torch.as_tensor(value, device=device)


def real_turns(
    time: Int64[Tensor, "..."], cycles_per_second: Float64[Tensor, "..."] | float, ticks_per_second: int = 1
) -> Float32[Tensor, "..."]:
    """Phase of real frequencies: the float64 product with time, reduced to one turn, then float32.

    Differentiable in the frequencies; their gradient is summed in float64. Between 1900 and 2200 the turns of
    periods from ten seconds on are within 1e-6 rad in every unit: whole seconds and the rest are multiplied
    apart, so that only one product is large enough for float64 to round.

    Args:
        time: Clock ticks since the epoch (or positions), negative before it.
        cycles_per_second: Frequencies (or cycles per position).
        ticks_per_second: Of the clock, at least 1.

    Returns:
        Turns in ``[-1/2, 1/2)``, of the shape to which the arguments broadcast.

    Raises:
        InputError: Time is not int64, frequencies are not float64, ticks are no positive int, or shapes do
            not match.
    """
    require_int64("time", time)
    if not isinstance(ticks_per_second, int) or isinstance(ticks_per_second, bool) or ticks_per_second < 1:
        raise InputError(
            f"ticks_per_second {ticks_per_second!r}: expected a positive int, such as 1000 for milliseconds"
        )
    cycles = _frequencies(cycles_per_second, time.device)
    _check_shapes(time=time, cycles_per_second=cycles)
    turns = turns_in_one_pass(time, cycles, ticks_per_second)
    return turns_of_real(time, cycles, ticks_per_second) if turns is None else turns


def turns_of_real(time: Tensor, cycles: Tensor, ticks_per_second: int) -> Tensor:
    """`real_turns` of arguments that it has seen."""
    if ticks_per_second == 1:
        return _within_half(time.double() * cycles)
    whole = torch.div(time, ticks_per_second, rounding_mode="floor")
    rest = (time - whole * ticks_per_second).double() / ticks_per_second
    return _within_half(_take_out(whole.double() * cycles) + rest * cycles)


def _frequencies(cycles: object, device: torch.device) -> Tensor:
    if isinstance(cycles, float | int) and not isinstance(cycles, bool):
        return torch.as_tensor(cycles, dtype=torch.float64, device=device)
    tensor = require_tensor("cycles_per_second", cycles)
    if tensor.dtype != torch.float64:
        raise InputError(
            f"frequencies are {tensor.dtype}: expected torch.float64; with less the clock is lost"
        )
    return tensor


def _take_out(turns: Tensor) -> Tensor:
    """Take whole turns out of a fresh product; they are constants to a derivative."""
    return turns.sub_((turns.detach() + 0.5).floor_())


def _within_half(turns: Tensor) -> Tensor:
    """Take out whole turns in float64, then cast; what rounds up to half a turn is minus half a turn."""
    rounded = _take_out(turns).float()
    return rounded.sub_((2 * rounded.detach()).floor_().relu_())  # 1 at half a turn, else 0


def _check_shapes(**named: Tensor) -> None:
    try:
        torch.broadcast_shapes(*(value.shape for value in named.values()))
    except RuntimeError:
        shapes = ", ".join(f"{name} {tuple(value.shape)}" for name, value in named.items())
        raise InputError(
            f"shapes do not match: {shapes}; expected ones that broadcast, for instance time[..., None]"
        ) from None
