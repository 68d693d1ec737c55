"""What a world is refused for, before anything is made."""

from datetime import date

from rota.errors import InputError
from rota.types import Duration
from rota.units import seconds

__all__: list[str] = []

_MOST = 10**9  # users and items are held in memory; so many events fill a hundred gigabytes
_YEARS = range(1970, 2201)  # zones have had offsets in whole minutes since


def check_sizes(*, seed: int, users: int, events: int, items: int) -> None:
    """Check whole numbers.

    Raises:
        InputError: One is out of range.
    """
    if not 0 <= seed < 2**32:
        raise InputError(f"seed {seed}: expected an integer from 0 to 2**32 - 1")
    for name, value in (("users", users), ("events", events), ("items", items)):
        if not 1 <= value <= _MOST:
            raise InputError(f"{value:,} {name}: expected from 1 to {_MOST:,}")
    if events < users:
        raise InputError(
            f"{events:,} events of {users:,} users: everybody has one at least; give more events or fewer "
            "users"
        )


def check_numbers(*, novelty: float, popularity: float, spread: float) -> None:
    """Check the rest.

    Raises:
        InputError: One is out of range.
    """
    for name, value, most in (
        ("novelty", novelty, 0.95),
        ("popularity", popularity, 3),
        ("spread", spread, 3),
    ):
        if not 0 <= value <= most:
            raise InputError(f"{name} {value}: expected a number from 0 to {most:g}")


def first_day(start: str) -> date:
    """The day that a text names.

    Raises:
        InputError: It names none, or one that is too far from now.
    """
    try:
        day = date.fromisoformat(start)
    except ValueError as error:
        raise InputError(f'start {start!r}: expected a day like "2024-01-01"') from error
    if day.year not in _YEARS:
        raise InputError(f"start {start!r}: expected a year from {_YEARS[0]} to {_YEARS[-1]}")
    return day


def whole_number(length: Duration, of: int, what: str, most: int) -> int:
    """How many times ``of`` seconds a length is.

    Args:
        length: What a person wrote.
        of: Seconds.
        what: Name and unit for the message: ``"span of days"``.
        most: Largest number.

    Raises:
        InputError: It is no whole number of them, or too long.
    """
    count = seconds(length) / of
    if count != int(count) or not 1 <= count <= most:
        raise InputError(
            f"{what}: {length!r} is {count:.9g} of them: expected a whole number from 1 to {most:,}"
        )
    return int(count)
