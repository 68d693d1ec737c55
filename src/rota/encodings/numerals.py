"""What is asked of the numbers in a recipe, in one line of an error each."""

import math
import numbers

from rota.errors import InputError

__all__: list[str] = []


def is_whole(value: object) -> bool:
    """Whether it is an integer, Python's or numpy's; a truth value is none, nor is 2.0."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether it is a finite real number; a truth value is none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def require_whole(value: object, least: int, name: str, of: str = "") -> None:
    """Refuse what is no whole number, or is under ``least``.

    Args:
        value: What was given.
        least: Smallest that will do.
        name: Of the argument, for errors.
        of: Of the recipe, likewise.

    Raises:
        InputError: It is refused.
    """
    if not is_whole(value) or value < least:  # type: ignore[operator]
        whose = f" of {of}" if of else ""
        raise InputError(f"{name} {shown(value)}{whose}: expected a whole number of at least {least}")


def require_spread(value: object, name: str, of: str) -> None:
    """Refuse a width of a random start that is no finite number of at least 0.

    Args:
        value: What was given.
        name: Of the argument, for errors.
        of: Of the recipe, likewise.

    Raises:
        InputError: It is refused.
    """
    if not is_number(value) or value < 0:  # type: ignore[operator]
        raise InputError(
            f"{name} {shown(value)} of {of}: expected a finite number of at least 0; 0 starts without noise"
        )


def require_base(base: object, name: str = "RoPE base") -> None:
    """Refuse a base of which no ladder can be made.

    Raises:
        InputError: It is no finite number above 1.
    """
    if not is_number(base) or base <= 1:  # type: ignore[operator]
        raise InputError(f"{name} {shown(base)}: expected a finite number above 1, published 10000")


def require_switch(value: object, name: str, of: str) -> None:
    """Refuse what is neither True nor False: any text but an empty one would count as True.

    Raises:
        InputError: It is another thing.
    """
    if not isinstance(value, bool):
        raise InputError(f"{name} {shown(value)} of {of}: expected True or False, not as text")


def shown(value: object) -> str:
    """What was given, on one line and not longer than an error can bear."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
