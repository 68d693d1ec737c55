"""Which of the occasions of a habit are taken."""

import numpy as np

from rota.types import Int64Array

__all__: list[str] = []


def distinct_cells(rng: np.random.Generator, counts: Int64Array, cells: int) -> tuple[Int64Array, Int64Array]:
    """Draw different cells for each person, every set of them alike likely.

    Args:
        rng: Randomness.
        counts: How many each person takes, at most ``cells``, shape ``(people,)``.
        cells: How many there are.

    Returns:
        Person and cell, by person and cell, shape ``(counts.sum(),)`` each.
    """
    most = 2 * counts > cells  # who takes most of them: what he leaves is drawn, or it would take long
    drawn = _drawn(rng, np.where(most, cells - counts, counts), cells)
    every = (np.flatnonzero(most)[:, None] * cells + np.arange(cells)).ravel()
    taken = np.setdiff1d(every, drawn, assume_unique=True)
    key = np.sort(np.concatenate([taken, drawn[~most[drawn // max(cells, 1)]]]))
    return key // max(cells, 1), key % max(cells, 1)


def _drawn(rng: np.random.Generator, counts: Int64Array, cells: int) -> Int64Array:
    """Different keys ``person * cells + cell``: what was drawn twice is drawn again."""
    key = np.empty(0, np.int64)
    short = counts
    while short.any():
        who = np.repeat(np.arange(len(counts)), short)
        key = np.unique(np.concatenate([key, who * cells + rng.integers(0, cells, len(who))]))
        short = counts - np.bincount(key // cells, minlength=len(counts))
    return key
