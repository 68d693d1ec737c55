"""The period of each person by himself, for benchmarks/personal.py.

Candidates lie from half a day to two weeks, so near each other that none is missed. For each it is counted
how often two events of a person that are a whole number of periods apart are of one item, and how often
others are, both beside what chance gives. The candidate with the greatest contrast, over its spread, is his.
He has it if none of 99 dealings of his items to his times at random has so great a one at any candidate.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rota.types import BoolArray, Float64Array, Int64Array

HOUR, DAY, WEEK = 3600.0, 86_400.0, 7 * 86_400.0
WIDTH, NEAR, FIRST, REACH = 1800.0, 2 * HOUR, DAY / 2, 28 * DAY  # s
LONGEST = 14 * DAY
KINDS = ("24h", "7d", "another", "none")
_DEALS = 99  # so that one person of a hundred who has no period is given one
_PARTS, _LIKE = 6, 0.02
_PRIOR = 1.0  # pairs


@dataclass(frozen=True)
class Candidates:
    """Periods, and the lags that are whole multiples of each."""

    @cached_property
    def periods(self) -> Float64Array:
        """So near each other that the last multiple of one between two is near a multiple of one of them."""
        return np.asarray(FIRST * np.exp(np.arange(0, np.log(LONGEST / FIRST) + 1e-9, NEAR / REACH)))

    @cached_property
    def lags(self) -> Float64Array:
        """Centres of bins."""
        return np.asarray(WIDTH * np.arange(1, int(REACH / WIDTH) + 1))

    @cached_property
    def multiples(self) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
        """1 where a bin is near a multiple of a candidate, shape ``(bins, candidates)``."""
        whole = np.rint(self.lags / self.periods[:, None]) * self.periods[:, None]
        return (np.abs(self.lags - whole) <= NEAR).T.astype(np.float32)

    def best(self, times: Float64Array, items: Int64Array, rng: np.random.Generator, deals: int) -> float:
        """The period of one person in seconds; NaN if a dealing has as great a contrast, or nothing returns.

        Args:
            times: In seconds.
            items: Of the events.
            rng: Of the dealings.
            deals: How many.
        """
        _, counts = np.unique(items, return_counts=True)
        chance = (counts * (counts - 1)).sum() / (len(items) * (len(items) - 1))
        one, other = np.triu_indices(len(items), 1)
        bins = np.rint((times[other] - times[one]) / WIDTH).astype(np.int64) - 1
        seen = (bins + 1 >= FIRST / WIDTH) & (bins < len(self.lags))
        one, other, bins = one[seen], other[seen], bins[seen]
        if not chance or not len(bins):
            return np.nan
        dealt = [items, *(rng.permutation(items) for _ in range(deals))]
        same = np.stack([self._summed(bins[labels[one] == labels[other]]) for labels in dealt])
        scores = _contrast(same, chance * self._summed(bins))
        greatest = scores.max(axis=1)
        return float(self.periods[scores[0].argmax()]) if (greatest[1:] < greatest[0]).all() else np.nan

    def _summed(self, bins: Int64Array) -> Float64Array:
        """Pairs near multiples of each candidate, and last all of them; shape ``(candidates + 1,)``."""
        counted = np.bincount(bins, minlength=len(self.lags)).astype(np.float32)
        return np.append(counted @ self.multiples, counted.sum())


def _contrast(same: Float64Array, expected: Float64Array) -> Float64Array:
    """How far pairs of one item exceed their share near multiples, in standard deviations."""
    on, away = same[:, :-1] + _PRIOR, same[:, -1:] - same[:, :-1] + _PRIOR
    chance_on, chance_away = expected[:-1] + _PRIOR, expected[-1] - expected[:-1] + _PRIOR
    both = chance_on + chance_away
    rate = (on + away) / both
    return np.asarray((on - rate * chance_on) / np.sqrt(rate * chance_on * chance_away / both))


def own_periods(times: Int64Array, items: Int64Array, rows: list[Int64Array], *, sure: bool) -> Float64Array:
    """Period of each person in seconds, NaN where he has none; half a day is a day, a part of a week one.

    Args:
        times: Of all events, in seconds.
        items: Of all events.
        rows: Of each person.
        sure: Whether it is asked if he has one; otherwise the best is given.
    """
    candidates, rng = Candidates(), np.random.default_rng(0)
    deals = _DEALS if sure else 0
    found = [candidates.best(times[own].astype(np.float64), items[own], rng, deals) for own in rows]
    return _whole(np.array(found))


def _whole(periods: Float64Array) -> Float64Array:
    """A day for what goes once or twice into one; else a week, for up to six times."""
    of_week = np.zeros(len(periods), np.bool_)
    for parts in range(1, _PARTS + 1):
        of_week |= alike(periods, WEEK / parts)
    of_day = alike(periods, DAY) | alike(periods, DAY / 2)
    return np.where(of_day, DAY, np.where(of_week, WEEK, periods))


def alike(periods: Float64Array, other: Float64Array | float) -> BoolArray:
    """Whether periods are within a fiftieth of others."""
    return np.asarray(np.abs(periods / other - 1) <= _LIKE)


def kinds_of(periods: Float64Array) -> Int64Array:
    """Of each person, the place in `KINDS`."""
    return np.asarray(np.select([periods == DAY, periods == WEEK, ~np.isnan(periods)], [0, 1, 2], 3))
