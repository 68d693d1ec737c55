"""The one order of events: by user, then time, then row in the file.

Times tie often (half of the neighbours in a log of ratings), and a sort that is not stable then decides by
chance which event is last, so which is predicted. Sorting happens on int64: a float clock reorders too.
"""

import numpy as np

from rota.types import Int64Array

__all__ = []


def event_order(users: Int64Array, ticks: Int64Array) -> Int64Array:
    """Rows of the file in order, shape ``(rows,)``; equal user and time keep the file's order.

    Args:
        users: User of each row, shape ``(rows,)``.
        ticks: Time of each row, shape ``(rows,)``.
    """
    return np.lexsort((ticks, users)).astype(np.int64, copy=False)  # stable in both keys


def count_ties(users: Int64Array, ticks: Int64Array) -> int:
    """Number of neighbouring events of one user at equal times, in ordered rows."""
    return int(np.count_nonzero((users[1:] == users[:-1]) & (ticks[1:] == ticks[:-1])))
