"""Population: how many events each person has, what kind he is and where he lives."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.types import Float64Array, Int64Array

__all__: list[str] = []

# What is made at once: so many events, or those of one person; and so many people, who have tables of habits.
_BLOCK, _PEOPLE = 2**17, 2**12


@dataclass(frozen=True)
class Population:
    """Everybody, in the order of the users' numbers.

    Attributes:
        counts: Events of each, at least one, shape ``(users,)``.
        kind: Index of each one's kind, shape ``(users,)``.
        zone: Index of each one's time zone, shape ``(users,)``.
    """

    counts: Int64Array
    kind: Int64Array
    zone: Int64Array

    def blocks(self) -> Iterator[slice]:
        """Users who are made at once: what a world is made of, whatever is asked of its batches."""
        done = np.cumsum(self.counts)
        start = 0
        while start < len(done):
            before = done[start - 1] if start else 0
            stop = int(np.searchsorted(done, before + _BLOCK, side="right"))
            stop = min(max(stop, start + 1), start + _PEOPLE)
            yield slice(start, stop)
            start = stop


def deal_counts(rng: np.random.Generator, users: int, events: int, spread: float) -> Int64Array:
    """Numbers of events, one at least, lognormal with standard deviation ``spread``, and exact in sum."""
    weights = np.cumsum(np.exp(spread * rng.standard_normal(users)))
    ends = np.rint(weights / weights[-1] * (events - users)).astype(np.int64)
    counts: Int64Array = 1 + np.diff(ends, prepend=0)
    return counts


def deal(rng: np.random.Generator, users: int, shares: Float64Array) -> Int64Array:
    """Indices of shares, dealt to users at random, to the nearest person."""
    ends = np.rint(np.cumsum(shares) * users).astype(np.int64)
    return rng.permutation(np.repeat(np.arange(len(shares)), np.diff(ends, prepend=0)))


def shares_of(given: Sequence[float] | None, count: int, what: str) -> Float64Array:
    """Shares that sum to one: equal ones by default.

    Raises:
        InputError: There are not as many as parts, or they are no shares.
    """
    if count == 0:
        raise InputError(f"no {what}: expected one at least")
    shares = np.full(count, 1 / count) if given is None else np.array(given, np.float64)
    if len(shares) != count or not np.all(shares >= 0) or abs(shares.sum() - 1) > 1e-6:
        raise InputError(f"shares of {what} {given}: expected {count} numbers that sum to 1")
    return shares
