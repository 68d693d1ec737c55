"""Whole numbers that arrive as floats: accepted only where nothing was rounded."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = []


def exact_limit(dtype: np.dtype[Any]) -> int:
    """Size from which a float type skips whole numbers: 2^24 for float32, 2^53 for float64."""
    return 1 << (int(np.finfo(dtype).nmant) + 1)


def first_inexact(values: NDArray[np.floating[Any]]) -> int | None:
    """Row of the first value that is not surely the whole number that was meant; ``None`` where all are.

    A fraction, NaN and infinity are not; nor is a number so large that its type skips whole numbers:
    float32 holds today's Unix time to 128 s, so it was rounded before it came here.
    """
    good = (np.abs(values) < exact_limit(values.dtype)) & (values == np.trunc(values))
    return None if good.all() else int(np.argmin(good))
