"""Sums of waves: what characteristic functions of atoms and of splines are."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rota.types import Float64Array, Int64Array

__all__: list[str] = []

_AT_ONCE = 256  # waves summed at once: fast, and memory stays that of the lags times this


def wave_sum(
    wave: Callable[[Float64Array], np.ndarray],
    lag: ArrayLike,
    rates: Float64Array | Int64Array,
    masses: Float64Array,
) -> np.ndarray[Any, np.dtype[Any]]:
    """``sum_k m_k wave(2 pi rate_k lag)``, of the shape of the lags.

    Args:
        wave: ``np.cos``, ``np.sin``, or one that is complex.
        lag: Any shape. For integer rates in periods, whole ones taken out, so that no rate multiplies the
            rounding of a long lag.
        rates: Turns for a unit of the lag, shape ``(n,)``.
        masses: Shape ``(n,)``.
    """
    lags = np.asarray(lag, np.float64)
    parts = (slice(first, first + _AT_ONCE) for first in range(0, len(rates), _AT_ONCE))
    sums = (
        wave(2 * np.pi * np.mod(np.multiply.outer(lags, rates[part]), 1)) @ masses[part] for part in parts
    )
    return np.asarray(sum(sums, np.zeros(lags.shape)))


def circle(angle: Float64Array) -> np.ndarray[Any, np.dtype[np.complex128]]:
    """``exp(1j angle)``."""
    return np.asarray(np.exp(1j * angle), np.complex128)
