"""Where buckets of a geometric ladder begin, in whole clock ticks: no logarithm is ever rounded."""

from fractions import Fraction

import numpy as np

from rota.types import Int64Array
from rota.units import ticks_per_second

__all__ = ["bucket_starts"]

_END = 2**63


def bucket_starts(num_buckets: int, base: float, width: float, unit: str = "s") -> Int64Array:
    """Smallest gap of buckets 1, 2, ...: ``ceil(width base^b)`` clock ticks, as whole numbers compute it.

    A gap is in bucket ``b = floor(log_base(max(gap / width, 1)))`` where ``b`` of these starts are at most
    the gap. ``base`` is the float64 that it is, a fraction like all of them; ``width`` is the shortest
    decimal that is read as it.

    Args:
        num_buckets: Buckets after bucket 0; those that no int64 reaches are left out.
        base: Ratio of one start to the one before, over 1.
        width: Gap in seconds at which the logarithm is 0.
        unit: Of the clock: s, ms, us or ns.

    Returns:
        Ascending, at most ``num_buckets`` of them.
    """
    ratio, start = Fraction(base), Fraction(repr(width)) * ticks_per_second(unit)
    starts = []
    for _ in range(num_buckets):
        start *= ratio
        whole = -(-start.numerator // start.denominator)
        if whole >= _END:
            break
        starts.append(whole)
    return np.array(starts, dtype=np.int64)
