"""How strong the daily peak of an attention curve is, in one number."""

import numpy as np

from rota.analysis.curves import AttentionByGap
from rota.errors import InputError
from rota.types import Float64Array

_HALF_WINDOW = 1.0  # hours on either side of a peak or of its antiphase


def daily_contrast(curve: AttentionByGap, period_hours: float = 24.0) -> float:
    """Attention at whole periods over attention half a period away; 1 means no peak.

    Numerator: mean relative attention over the pairs within 1 h of 24, 48, ..., 144 h (as far as the curve
    reaches half a period further). Denominator: what the antiphase lets one expect for the same pairs:
    at each of those gaps, the geometric mean of the attention within 1 h of half a period before and after.
    Setting each peak against its own two sides keeps recency out of the number: a curve that only decays
    exponentially scores 1 (but for how the pairs lie inside the 2 h windows), one that falls faster at first
    a little below 1.

    Peaks with no pair in one of their three windows are left out; NaN where none is left.

    Args:
        curve: Attention by gap.
        period_hours: Period whose peak is measured.

    Raises:
        InputError: The period is not positive, or no whole period with both sides fits in the curve.
    """
    reach = float(curve.centres_hours[-1])
    peaks = int(reach / period_hours - 0.5) if period_hours > 0 else 0
    if peaks < 1:
        raise InputError(
            f"period of {period_hours!r} h: expected above 0 and, for attention up to {reach:g} h, "
            f"at most {reach / 1.5:g} h"
        )
    at = period_hours * np.arange(1, peaks + 1, dtype=np.float64)
    top, weight = _means(curve, at)
    before, _ = _means(curve, at - period_hours / 2)
    after, _ = _means(curve, at + period_hours / 2)
    sides = np.sqrt(before * after)
    known = np.isfinite(top) & np.isfinite(sides)
    above, below = (top * weight)[known].sum(), (sides * weight)[known].sum()
    return float(above / below) if below > 0 else float("nan")


def _means(curve: AttentionByGap, at: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Mean over the pairs within an hour of each gap (NaN without pairs), and how many pairs there are."""
    near = (np.abs(curve.centres_hours - at[:, None]) <= _HALF_WINDOW + 1e-9).astype(np.float64)
    pairs: Float64Array = near @ curve.pairs.astype(np.float64)
    total = near @ np.where(curve.pairs > 0, curve.relative * curve.pairs, 0.0)
    mean: Float64Array = np.divide(total, pairs, out=np.full(len(at), np.nan), where=pairs > 0)
    return mean, pairs
