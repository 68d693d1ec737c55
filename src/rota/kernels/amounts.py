"""Amounts: numbers that a kernel is given, and what is none."""

import math
from numbers import Real

import numpy as np

from rota.errors import InputError

__all__: list[str] = []


def positive(value: object, name: str, of: str = "", hint: str = "") -> float:
    """A positive, finite number as float64 has it.

    Args:
        value: What was given.
        name: Its name in a sentence, for instance ``"factor"``.
        of: What stands after the value there, for instance ``"of a rescaled profile"``.
        hint: What to give instead, after the expectation.

    Raises:
        InputError: It is no number, or not positive, or not finite.
    """
    number = plain(value)
    if number is None or not (math.isfinite(number) and number > 0):
        raise InputError(
            f"{name} {value!r}{f' {of}' if of else ''}: expected a positive, finite number{hint}"
        )
    return number


def plain(value: object) -> float | None:
    """A number as float64 has it; ``None`` for text, truth values, lengths of time and what is too large."""
    if not isinstance(value, Real) or isinstance(value, bool | np.timedelta64):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
