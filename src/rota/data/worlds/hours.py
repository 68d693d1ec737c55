"""Hours: when people are awake, which is no routine of anybody's."""

import numpy as np

from rota.errors import InputError
from rota.types import Float64Array, Int64Array

__all__: list[str] = []

HOUR, DAY, WEEK = 3600, 86_400, 604_800
_OF_DAY = np.arange(24) + 0.5


def _week(name: str) -> Float64Array:
    """How much is done in each hour of a week that begins on Monday, shape ``(168,)``."""
    if name == "flat":
        return np.ones(168)
    if name == "evening":  # most at eight, least at eight in the morning
        return np.tile(0.05 + np.exp(1.5 * (np.cos(2 * np.pi * (_OF_DAY - 20) / 24) - 1)), 7)
    if name == "office":
        working = ((_OF_DAY > 9) & (_OF_DAY < 17)).astype(np.float64)
        return np.concatenate([np.tile(working, 5), np.zeros(48)]) + 0.03
    raise InputError(f"hours {name!r}: expected one of flat, evening, office")


class Hours:
    """How events without a habit are spread over the days of a world.

    Args:
        name: ``"flat"``, ``"evening"`` (every day, most at 20:00), or ``"office"`` (9 to 17, Monday to
            Friday).
        first: Midnight with which the world begins, in seconds on the wall clock.
        days: Length of the world.

    Raises:
        InputError: There are no such hours.
    """

    def __init__(self, name: str, first: int, days: int) -> None:
        self.first = first
        monday = (first // DAY + 3) % 7  # days since a Monday: 1 January 1970 was a Thursday
        week = np.roll(_week(name), -24 * monday)
        self._week = _shares(week)
        self._span = _shares(np.tile(week, -(-days // 7))[: 24 * days])

    def moments(self, rng: np.random.Generator, count: int) -> Int64Array:
        """Times at which people are awake, in seconds on the wall clock, shape ``(count,)``."""
        return self.first + _places(rng, self._span, count)

    def offsets(self, rng: np.random.Generator, count: int, period: int) -> Int64Array:
        """Times at which a habit may have its place: seconds into a day or week, shape ``(count,)``.

        Args:
            rng: Randomness.
            count: How many.
            period: A day or a week in seconds, counted from the start of the world.
        """
        return _places(rng, self._week, count) % period


def _shares(weights: Float64Array) -> Float64Array:
    summed = np.cumsum(weights)
    return np.asarray(summed / summed[-1])


def _places(rng: np.random.Generator, shares: Float64Array, count: int) -> Int64Array:
    hour = np.searchsorted(shares, rng.random(count), side="right")
    return hour * HOUR + rng.integers(0, HOUR, count)
