"""Durations and time units: how people write time, and how many ticks of a clock that is."""

import re
from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rota.errors import InputError
from rota.types import Duration, Float64Array

Unit = Literal["s", "ms", "us", "ns"]
UNITS: tuple[Unit, ...] = get_args(Unit)
Lag = ArrayLike | timedelta | Sequence[timedelta]
"""What a kernel is asked at: numbers of seconds, ``timedelta64`` of any unit, or ``timedelta``."""

_TICKS: dict[str, int] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS: dict[str, int] = {
    "s": 1, "sec": 1, "second": 1, "seconds": 1,
    "m": 60, "min": 60, "minute": 60, "minutes": 60,
    "h": 3600, "hour": 3600, "hours": 3600,
    "d": 86_400, "day": 86_400, "days": 86_400,
    "w": 604_800, "week": 604_800, "weeks": 604_800,
}  # fmt: skip
# numpy counts its timedelta64 among the integers, and bool is an int: neither is a number of seconds.
_NO_NUMBERS = (bool, np.timedelta64)
_LONGEST = 10**30  # s
# Seconds in numpy's units of timedelta64 as (times, over); its years and months have no one length.
_NUMPY_UNITS: dict[str, tuple[int, int]] = {
    "W": (604_800, 1), "D": (86_400, 1), "h": (3600, 1), "m": (60, 1), "s": (1, 1), "ms": (1, 10**3),
    "us": (1, 10**6), "ns": (1, 10**9), "ps": (1, 10**12), "fs": (1, 10**15), "as": (1, 10**18),
}  # fmt: skip
_LAGS = 'lags are seconds (numbers), or timedelta64; for text such as "1h" there is `rota.units.seconds`'
_DURATION = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,2})?)\s*([a-zA-Z]*)\s*")


def seconds(duration: Duration) -> float:
    """Length of a duration in seconds.

    Args:
        duration: ``"24h"``, ``"30min"``, ``"7d"``, ``"1.5 h"``, a number of seconds, or a ``timedelta``.

    Raises:
        InputError: It cannot be read, is not finite, or is not positive.
    """
    return float(_exact(duration))


def _exact(duration: Duration) -> Fraction:
    """Length in seconds as it was written: "0.7d" is 60480, which it is not in floating point."""
    if isinstance(duration, timedelta):
        value = Fraction(duration // timedelta(microseconds=1), 10**6)
    elif isinstance(duration, str):
        value = _parse(duration)
    elif isinstance(duration, int | float | np.integer | np.floating) and not isinstance(
        duration, _NO_NUMBERS
    ):
        value = Fraction(_plain(duration))
    else:
        raise InputError(f'duration {duration!r}: expected "24h", a number of seconds or a timedelta')
    if not 0 < value < _LONGEST:
        raise InputError(f"duration {duration!r}: expected a positive, finite length of time")
    return value


def _plain(number: int | float | np.integer[Any] | np.floating[Any]) -> int | float:
    if isinstance(number, int | np.integer):
        return int(number)
    return float(number) if np.isfinite(number) else 0  # refused with what is not positive


def _parse(text: str) -> Fraction:
    match = _DURATION.fullmatch(text)
    # "M" is a month elsewhere: no guess between that and a minute.
    if match is None or (match[2] and (match[2] == "M" or match[2].lower() not in _SECONDS)):
        raise InputError(
            f'duration {text!r}: expected a number and one of s, min, h, d, w, for instance "24h" or "0.5h"'
        )
    return Fraction(match[1]) * _SECONDS[match[2].lower() if match[2] else "s"]


def duration_text(length: float) -> str:
    """Short spelling of a number of seconds, read back exactly: 86400 is "24h", 90 is "1.5min"."""
    for name, size, least in (("d", 86_400.0, 2.0), ("h", 3600.0, 0.25), ("min", 60.0, 1.0)):
        count = length / size
        text = f"{count:.6g}{name}"
        if count >= least and seconds(text) == length:
            return text
    return f"{length:.15g}s" if float(f"{length:.15g}") == length else f"{float(length)!r}s"


def ticks_per_second(unit: str) -> int:
    """Ticks of a clock of this unit in one second.

    Raises:
        InputError: The unit is not one of s, ms, us, ns.
    """
    if unit not in _TICKS:
        raise InputError(f"time unit {unit!r}: expected one of {', '.join(UNITS)}")
    return _TICKS[unit]


def whole_ticks(duration: Duration, unit: str = "s") -> int:
    """A duration as a whole number of clock ticks, which is what exact phases need.

    Raises:
        InputError: The duration is not a whole number of ticks, is under two of them, or exceeds int64.
    """
    exact = _exact(duration) * ticks_per_second(unit)
    if exact >= 2**63:
        raise InputError(f"period {duration!r} exceeds int64 in ticks of {unit!r}: use a coarser unit")
    ticks = round(exact)
    # A number of seconds computed in floating point, such as 0.7 * 86400, may be off in its last bits.
    slack = exact / 10**15 if isinstance(duration, float | np.floating) else 0
    if abs(exact - ticks) > slack:
        raise InputError(
            f"period {duration!r} is {float(exact):.9g} ticks of the clock's unit {unit!r}: expected a whole "
            "number; use a finer unit or round the period"
        )
    if ticks < 2:
        raise InputError(
            f"period {duration!r} is under two ticks of the clock's unit {unit!r}: use a finer unit"
        )
    return ticks


def lag_seconds(lag: Lag) -> Float64Array:
    """Lags in seconds, of the shape they have.

    Args:
        lag: Numbers, which are seconds already; ``timedelta64`` of any unit but years and months, which have
            no one length; ``timedelta``. Not-a-time becomes not-a-number.

    Raises:
        InputError: It is anything else, such as text or a truth value.
    """
    try:
        values = np.asarray(lag)
    except ValueError as error:  # rows of different lengths
        raise InputError(f"lags in rows of different lengths: {_LAGS}") from error
    if values.dtype.kind in "fiu":
        return values.astype(np.float64, copy=False)
    if values.dtype.kind == "m":
        return _of_timedelta64(values)
    if values.dtype.kind == "O":
        each = [_one_lag(one) for one in values.ravel().tolist()]
        return np.array(each, np.float64).reshape(values.shape)
    raise _no_lag(lag, values)


def _of_timedelta64(values: np.ndarray[Any, np.dtype[Any]]) -> Float64Array:
    unit, count = np.datetime_data(values.dtype)
    if unit not in _NUMPY_UNITS:
        raise InputError(f"lags of {values.dtype}, a unit without one length: {_LAGS}")
    times, over = _NUMPY_UNITS[unit]
    length = values.astype(np.int64).astype(np.float64) * (times * count) / over
    return np.asarray(np.where(np.isnat(values), np.nan, length))


def _one_lag(one: object) -> float:
    if isinstance(one, timedelta):
        return one.total_seconds()
    if isinstance(one, np.timedelta64):
        return float(_of_timedelta64(np.asarray(one)))
    if isinstance(one, int | float | np.integer | np.floating) and not isinstance(one, _NO_NUMBERS):
        try:
            return float(one)
        except OverflowError as error:
            raise InputError(
                f"lag of {len(str(one))} digits: expected what float64 holds, to 1e308"
            ) from error
    raise _no_lag(one, np.asarray(one))


def _no_lag(given: object, values: np.ndarray[Any, np.dtype[Any]]) -> InputError:
    text = repr(given)
    what = f"lag {text}" if len(text) <= 60 and "\n" not in text else f"lags of {values.dtype}"
    return InputError(f"{what}: {_LAGS}")
