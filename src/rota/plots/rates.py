"""Rates: a long series of days as so many columns of a picture."""

from collections.abc import Sequence

import numpy as np

__all__ = ["daily_rates"]


def daily_rates(daily: Sequence[int], most: int) -> list[float]:
    """Events a day in each of at most so many equal stretches of whole days.

    Args:
        daily: Events of each day.
        most: Columns that there is room for.

    Returns:
        Means; the last stretch may be shorter than the others.
    """
    step = -(-len(daily) // most)
    starts = np.arange(0, len(daily), step)
    sums = np.add.reduceat(np.asarray(daily, dtype=np.float64), starts)
    lengths = np.diff(np.append(starts, len(daily)))
    return [float(rate) for rate in sums / lengths]
