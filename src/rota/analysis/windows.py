"""Windows: which bins of a lift lie around some lags."""

import numpy as np

from rota.types import Float64Array, Int64Array

__all__: list[str] = []

_ROUNDING = 1e-6  # of a bin


def window_bins(
    centres: Float64Array, half: Float64Array, width: float, bins: int
) -> tuple[Int64Array, Int64Array]:
    """Bins from the first up to the last (not included) whose centres lie within ``half`` of some lags.

    The bin nearest to the lag is one of them, however narrow the window is, if it is in the lift.

    Args:
        centres: Lags in seconds.
        half: Likewise, of the same shape.
        width: Of a bin in seconds.
        bins: Of the lift; bin 0 is centred on one width.
    """
    nearest = np.rint(centres / width)
    first = np.minimum(np.ceil((centres - half) / width - _ROUNDING), nearest)
    last = np.maximum(np.floor((centres + half) / width + _ROUNDING), nearest)
    first, last = np.maximum(first, 1) - 1, np.minimum(last, bins)
    inside = last > first
    return np.where(inside, first, 0).astype(np.int64), np.where(inside, last, 0).astype(np.int64)
