"""Lifts made by hand or at random, and the slow obvious way to count one."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from rota.analysis.lift import Lift
from rota.types import Float64Array, Int64Array

HOUR, DAY, WEEK = 3600.0, 86_400.0, 604_800.0


def lift_like(
    profile: Callable[[Float64Array], Float64Array],
    *,
    seed: int = 0,
    width: float = HOUR,
    longest: float = 30 * DAY,
    groups: int = 60,
    pairs: float = 20.0,
    users_differ: float = 0.0,
    awake: Callable[[Float64Array], Float64Array] | None = None,
) -> Lift:
    """A lift whose pairs of the same item are Poisson about a profile of the lag in seconds.

    Args:
        profile: Lift wanted at the lags.
        seed: Of the draw.
        width: Of a bin.
        longest: Lag.
        groups: Of users.
        pairs: Expected to be the same in a bin, of a group.
        users_differ: Standard deviation of the logarithm of how many pairs a group has.
        awake: How many pairs there are at a lag, relative to others.
    """
    rng = np.random.default_rng(seed)
    bins = round(longest / width)
    lags = width * np.arange(1, bins + 1, dtype=np.float64)
    busy = np.exp(users_differ * rng.standard_normal((groups, 1)))
    density = np.ones(bins) if awake is None else awake(lags)
    expected = pairs * busy * density
    same = rng.poisson(expected * profile(lags)).astype(np.int64)
    counted = np.rint(10 * expected).astype(np.int64)
    return Lift(lags, width, same, counted, expected, groups, int(counted.sum()), 1.0)


def peaks(lags: Float64Array, period: float, half: float) -> Float64Array:
    """One at multiples of a period, falling to zero exponentially around them."""
    away = np.abs(lags / period - np.rint(lags / period)) * period
    near = np.rint(lags / period) >= 1
    return np.asarray(np.exp(-away / half) * near)


def counted_slowly(
    offsets: Sequence[int], times: Sequence[int], labels: Sequence[int], width: int, bins: int
) -> tuple[Int64Array, Int64Array, Float64Array]:
    """Same, pairs and expected of all users together, pair by pair."""
    same, pairs, expected = np.zeros(bins, np.int64), np.zeros(bins, np.int64), np.zeros(bins)
    for begin, end in pairwise(offsets):
        own = sorted(range(begin, end), key=lambda row: times[row])
        alike = [labels[a] == labels[b] for k, a in enumerate(own) for b in own[:k]]
        chance = sum(alike) / max(len(alike), 1)
        for k, later in enumerate(own):
            for earlier in own[:k]:
                place = int(np.floor((times[later] - times[earlier]) / width + 0.5))
                if 1 <= place <= bins:
                    pairs[place - 1] += 1
                    same[place - 1] += labels[later] == labels[earlier]
                    expected[place - 1] += chance
    return same, pairs, expected
