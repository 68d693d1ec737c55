"""What is asked of times before they become phases."""

import torch
from torch import Tensor

from rota.errors import InputError
from rota.units import ticks_per_second

__all__ = ["require_clock"]

FIRST, LAST = -2_208_988_800, 7_258_118_400  # seconds from 1970 to the starts of 1900 and 2200


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
    if time.dtype != torch.int64:
        raise InputError(f"{name} is {time.dtype}: expected torch.int64, whole clock ticks since the epoch")
    if time.numel() == 0:
        raise InputError(f"{name} is empty: expected at least one time")
    ticks, (low, high) = ticks_per_second(unit), (int(edge) for edge in time.aminmax())
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
