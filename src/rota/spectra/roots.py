"""Frequencies at which a tail probability is reached: how quantiles of laws without a formula are found."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import elementwise

from rota.types import Float64Array

__all__: list[str] = []

# Logarithms of the absolute frequency over the scale: heavy tails go far, and most roots lie about 1.
_LOGS = np.concatenate([np.arange(-80.0, -6.0, 2.0), np.arange(-6.0, 6.0, 0.05), np.arange(6.0, 100.0, 2.0)])


def where_survival_is(
    survival: Callable[[Float64Array], Float64Array], target: Float64Array, scale: float
) -> Float64Array:
    """Frequencies ``x >= 0`` at which a decreasing, continuous ``survival(x)`` has a target value.

    The search is over ``log x``, so that a tail such as Cauchy's costs no more than a Gaussian's; what is
    below ``e^-80`` scales is 0.

    Args:
        survival: Probability of an absolute frequency above ``x``; takes and gives any shape.
        target: Values to reach, any shape, in ``(0, survival(0)]``.
        scale: Of the frequencies, in cycles per second.
    """
    wanted = np.asarray(target, np.float64)
    table = survival(scale * np.exp(_LOGS))
    # The table's values fall: the bracket of each target is the step in which they pass it.
    after = np.searchsorted(-table, -wanted.ravel(), side="right")
    inside = (after > 0) & (after < len(_LOGS))
    after = after[inside]
    frequencies = np.zeros(wanted.size)
    if len(after):
        found = elementwise.find_root(
            lambda log, of: survival(scale * np.exp(log)) - of,
            (_LOGS[after - 1], _LOGS[after]),
            args=(wanted.ravel()[inside],),
            tolerances={"xatol": 1e-15, "xrtol": 4e-16, "fatol": 0.0, "frtol": 0.0},
        )
        frequencies[inside] = scale * np.exp(found.x)
    return frequencies.reshape(wanted.shape)
