"""What is asked of times before they become phases."""

import numpy as np
import torch
from torch import Tensor

from rota.errors import InputError
from rota.rotary.kinds import require_int64
from rota.units import UNITS, ticks_per_second

__all__ = ["require_clock"]

FIRST, LAST = -2_208_988_800, 7_258_118_400  # seconds from 1970 to the starts of 1900 and 2200

_TICKS = {unit: ticks_per_second(unit) for unit in UNITS}


def require_clock(time: Tensor, *, unit: str = "s", name: str = "time") -> Tensor:
    """Times of a log that can serve as a clock: int64, of our age, and not all the same.

    It looks at values, so it waits for the device and has no place in a forward pass: whoever reads a log or
    builds its batches calls it once, for all times at once. The times of a single user may well be all the
    same, and those of a whole log never are. Integer harmonics are exact at every int64; the bound for real
    frequencies, and with it the range, is 1900 to 2200. Times of another unit than was said fall out of it.

    Args:
        time: Clock ticks since the epoch, any shape.
        unit: Of the clock: s, ms, us or ns.
        name: What to call them in an error.

    Returns:
        The same times.

    Raises:
        InputError: They are not int64, there are none, they are not between the years 1900 and 2200 in this
            unit, or two or more of them do not vary.
    """
    require_int64(name, time)
    if time.numel() == 0:
        raise InputError(f"{name} is empty: expected at least one time")
    ticks, (low, high) = ticks_per_second(unit), _edges(time)
    if low < FIRST * ticks or high >= LAST * ticks:
        raise InputError(
            f"{name} runs from {low} to {high} in {unit}: expected the years 1900 to 2200; check the unit"
        )
    if low == high and time.numel() > 1:
        raise InputError(
            f"{name} is {low} throughout: expected times that vary; use an encoding without a clock, or find "
            "where the times were lost"
        )
    return time


def values_known(tensor: Tensor) -> bool:
    """Whether values can be looked at for nothing: in eager mode, on the CPU, and not under a transform.

    Elsewhere a look would wait for a device, break a graph, or be kept by a tracer.
    """
    return (
        not torch.compiler.is_compiling()
        and tensor.device.type == "cpu"
        and type(tensor) in (Tensor, torch.nn.Parameter)  # not fake, nor distributed
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        and torch._C._len_torch_dispatch_stack() == 0
        and torch._C._get_tracing_state() is None
    )


def require_range(time: Tensor, ticks_per_second: int, name: str) -> None:
    """Refuse times before 1900 or after 2199, such as those of another unit have; only where `values_known`.

    It costs one pass over the times. Elsewhere it does nothing: `require_clock` asks at any cost.

    Args:
        time: Clock ticks since the epoch, int64, any shape.
        ticks_per_second: Of the clock.
        name: What to call the times in an error.

    Raises:
        InputError: A time is out of that range.
    """
    if time.numel() == 0 or not values_known(time):
        return
    first, last = FIRST * ticks_per_second, LAST * ticks_per_second
    low, high = _edges(time)
    if first <= low and high < last:
        return
    wrong = high if high >= last else low
    fitting = [unit for unit, ticks in _TICKS.items() if FIRST * ticks <= low and high < LAST * ticks]
    remedy = (
        f'build with unit="{fitting[0]}" if that is the unit of the clock' if fitting else "check the log"
    )
    raise InputError(
        f"{name} {wrong} is {_date(wrong // ticks_per_second)} at {ticks_per_second} ticks a second: "
        f"expected the years 1900 to 2200; {remedy}"
    )


def _edges(time: Tensor) -> tuple[int, int]:
    low, high = torch.aminmax(time)
    return int(low), int(high)


def _date(second: int) -> str:
    date = np.datetime64(second, "s").astype("datetime64[D]")
    return "no date" if np.isnat(date) else str(date)


def require_times_of(x: Tensor, time: Tensor, name: str) -> None:
    """Refuse times that are not one for each token of ``x``, shape ``(batch, heads, length, head_dim)``.

    Raises:
        InputError: Shapes do not match.
    """
    if time.shape != (x.shape[0], x.shape[2]):
        raise InputError(
            f"times of shape {tuple(time.shape)} and features of shape {tuple(x.shape)}: {name} expects "
            f"(batch, length) {(x.shape[0], x.shape[2])}, one time for each token"
        )
