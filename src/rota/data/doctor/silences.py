"""Silences: days without any event, inside the span of a log, that chance does not explain."""

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rota.data.doctor.counts import Counts

__all__ = ["Silence", "unexplained_silences"]

_AROUND = 28  # days on either side that say what was to be expected
_SURPRISE = math.log(1e4)  # chance leaves so many days empty once in ten thousand times
_CUSTOM = 8  # silences of one length that are a custom, such as a shop closed on Sundays


@dataclass(frozen=True)
class Silence:
    """Days in a row without an event.

    Attributes:
        start: First of them, counted as `Hours.daily` does.
        days: How many.
        expected: Events that the four weeks on either side let one expect.
    """

    start: int
    days: int
    expected: float


def unexplained_silences(daily: Counts) -> list[Silence]:
    """Silences that chance and custom do not explain, the longest first.

    Args:
        daily: Events of each day that has any.
    """
    days = [int(day) for day in daily.values]
    lengths = Counter(after - before - 1 for before, after in pairwise(days) if after - before > 1)
    custom = max((length for length, often in lengths.items() if often >= _CUSTOM), default=0)
    others = (sum(lengths.values()) - 1) / len(days)  # silences but the one at hand, to a day with events
    found = []
    for before, after in pairwise(days):
        empty = after - before - 1
        if empty > custom:
            near = _near(daily, before, after)
            if _surprise(near, others) * empty >= _SURPRISE:
                found.append(Silence(before + 1, empty, empty * sum(near) / len(near)))
    return sorted(found, key=lambda silence: (-silence.days, silence.start))


def _near(daily: Counts, before: int, after: int) -> list[int]:
    """Events of each of the days around a silence, empty days too, as far as the log reaches."""
    first, last = int(daily.values[0]), int(daily.values[-1])
    spans = ((max(before - _AROUND + 1, first), before), (after, min(after + _AROUND - 1, last)))
    near = []
    for low, high in spans:
        inside = slice(*np.searchsorted(daily.values, [low, high + 1]))
        full = [int(events) for events in daily.times[inside]]
        near += full + [0] * (high - low + 1 - len(full))
    return near


def _surprise(near: list[int], others: float) -> float:
    """Minus the logarithm of the chance of an empty day: the greatest of three estimates of it.

    Days are negative binomial, with the mean and variance of the days around: events come in bursts, so that
    an empty day is no rarity where a mean of ten events is one user's evening. With no more variance than
    mean it is Poisson's. And were days independent, an empty one would follow any day as often as it follows
    a full one, here or in all of the log: silences are counted, not their days, so that a long one does not
    excuse the next.

    Args:
        near: Events of each of the days around.
        others: How often, in all of the log, a silence follows a day with events.
    """
    mean, variance = float(np.mean(near)), float(np.var(near, ddof=1))
    shape = mean * mean / (variance - mean) if variance > mean else math.inf
    spread = shape * math.log1p(mean / shape) if math.isfinite(shape) else mean
    full = sum(events > 0 for events in near)
    runs = sum(events > 0 and following == 0 for events, following in pairwise(near))
    chance = max(runs / full, others)
    return min(spread, -math.log(chance)) if chance > 0 else spread
