"""Checks of the numbers in a loss's recipe."""

import math

from rota.errors import InputError


def require_count(name: str, count: int) -> None:
    """Refuse what is no number of things.

    Raises:
        InputError: It is under 1.
    """
    if count < 1:
        raise InputError(f"{name} {count}: expected at least 1")


def require_positive(name: str, value: float) -> None:
    """Refuse what cannot divide.

    Raises:
        InputError: It is not a finite number above 0.
    """
    if not 0 < value < math.inf:
        raise InputError(f"{name} {value}: expected a finite number above 0")
