"""Peaks: how wide a lift rises around a period."""

import numpy as np

from rota.analysis.lift import Lift
from rota.types import Float64Array

__all__: list[str] = ["peak_half_width"]

_SMOOTH = 3  # bins


def peak_half_width(lift: Lift, period: float) -> float:
    """Half of the width of the first peak at half of its height, in seconds; half a bin at least.

    The height is above the mean lift of the middle half of the way to the next peak, and to the one before;
    where there are no pairs in it, of all that is an eighth of the period or more from a peak.

    Args:
        lift: With lags up to 1.25 periods at least, and bins much narrower than the peak.
        period: In seconds.
    """
    smooth = lift.coarser(_SMOOTH) if len(lift.lags) > 100 * _SMOOTH else lift
    lags, value = smooth.lags, np.nan_to_num(smooth.value, nan=0.0)
    same, expected = smooth.same.sum(axis=0), smooth.expected.sum(axis=0)
    between, early = np.abs(lags / period % 1 - 0.5), lags < 2 * period
    away = early & (between <= 0.25)
    if not expected[away].any():
        away = early & (between <= 0.375)
    base = same[away].sum() / max(float(expected[away].sum()), 1e-300)
    near = np.flatnonzero(np.abs(lags - period) <= max(period / 24, smooth.width))
    top = int(near[np.argmax(value[near])])
    half = (value[top] + base) / 2
    below = _crossing(lags[top::-1], value[top::-1], half)
    above = _crossing(lags[top:], value[top:], half)
    return float(min(max(abs(above - below) / 2, lift.width / 2), period / 4))


def _crossing(lags: Float64Array, value: Float64Array, half: float) -> float:
    """Where lines between the bins first fall to half; the last lag if they never do."""
    low = np.flatnonzero(value <= half)
    if not len(low):
        return float(lags[-1])
    after = int(low[0])
    part = (value[after - 1] - half) / (value[after - 1] - value[after]) if after else 0.0
    return float(lags[after - 1] + part * (lags[after] - lags[after - 1])) if after else float(lags[0])
