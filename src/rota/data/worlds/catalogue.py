"""Catalogue: items, how popular each is, and when it appeared."""

import numpy as np

from rota.errors import InputError
from rota.types import BoolArray, Int64Array

__all__: list[str] = []

_LEAST = 1e-3  # of what is drawn must exist from the start, or drawing again would take for ever


class Catalogue:
    """Items whose popularity falls with a power of their rank (Zipf), and of which some appear later.

    The numbers of items say nothing about either.

    Args:
        rng: Randomness.
        items: How many there are in the end.
        exponent: Of the power; 0 makes all alike.
        novelty: Share of items that do not exist at the start: each appears at a random instant.
        first: Start, Unix seconds.
        last: End.
        habits: Most habits of one person, which are dealt different items.

    Raises:
        InputError: There are not items enough.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        *,
        items: int,
        exponent: float,
        novelty: float,
        first: int,
        last: int,
        habits: int,
    ) -> None:
        weights = (1.0 + np.arange(items)) ** -exponent
        self._shares = np.cumsum(weights) / weights.sum()
        self._item = rng.permutation(items)
        self._first = first
        newcomers = rng.permutation(items)[: round(novelty * items)]
        self._birth = np.full(items, np.iinfo(np.int64).min)
        self._birth[newcomers] = rng.integers(first, last, len(newcomers))
        old = weights * ~self.is_new(self._item) / weights.sum()
        least = min(old[part::parts].sum() for parts in range(1, max(habits, 1) + 1) for part in range(parts))
        if items < 2 * habits or least < _LEAST:
            raise InputError(
                f"{items:,} items with novelty {novelty:g} for {habits} habits a person: too few of them "
                "exist from the start; give more items, fewer slots or less novelty"
            )

    def draw(
        self, rng: np.random.Generator, when: Int64Array, part: Int64Array | None = None, parts: int = 1
    ) -> Int64Array:
        """Items by popularity among those that exist.

        Args:
            rng: Randomness.
            when: Unix seconds at which each must exist, shape ``(events,)``.
            part: Which part of the catalogue each is drawn from, from 0 to ``parts - 1``: items of different
                parts differ. Every part has popular and rare items.
            parts: Number of parts.

        Returns:
            Numbers of items, shape ``(events,)``.
        """
        drawn = np.empty(len(when), np.int64)
        left = np.arange(len(when))
        while len(left):
            rank = np.searchsorted(self._shares, rng.random(len(left)), side="right")
            if part is not None:
                rank = rank // parts * parts + part[left]
            item = self._item[np.minimum(rank, len(self._item) - 1)]
            good = (self._birth[item] <= when[left]) & (rank < len(self._item))
            drawn[left[good]] = item[good]
            left = left[~good]
        return drawn

    def is_new(self, item: Int64Array) -> BoolArray:
        """Whether an item did not exist when the world began."""
        return self._birth[item] >= self._first
