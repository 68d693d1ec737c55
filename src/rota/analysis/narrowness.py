"""Narrowness: people who are there for few hours of the day, and what can be told of them."""

import numpy as np

from rota.analysis.background import Background
from rota.analysis.windows import window_bins
from rota.types import BoolArray, Float64Array, Int64Array

__all__: list[str] = []

_CYCLES, _MULTIPLES = (86_400.0, 604_800.0), 8
_GAP = 1 / 4  # of a period, about what is halfway between two teeth
_NEAR, _MIDDLE = 1 / 8, 1 / 8  # of a cycle, about its multiples and about what is halfway between
_DESERTED = 0.02  # of the pairs a whole day, or week, apart


def half_gaps(background: Background, periods: Float64Array, halves: Float64Array) -> Float64Array:
    """Half of what lies between two teeth and is compared with them, in seconds; shape ``(combs,)``.

    That is the middle half of the way from one to the next. Where the lift is narrow there is nothing in it,
    and all of the way is taken but a margin beside each tooth, as wide as half of it.

    Args:
        background: Whose lift says whether it is narrow.
        periods: In seconds, shape ``(combs,)``.
        halves: Half the width of the teeth, likewise; a tooth is one bin wide at least.
    """
    if not is_narrow(background):
        return np.asarray(periods * _GAP)
    return np.asarray(np.maximum(periods / 2 - 2 * np.maximum(halves, background.lift.width / 2), 0.0))


def is_narrow(background: Background) -> bool:
    """Whether hardly any pairs are half a day (or half a week) apart, beside those a whole one apart.

    So it is where people are there for nine hours of a day or fewer. The middle of a gap is deserted then,
    and a comb beside the true period would be judged by the few pairs that its own gaps happen to meet.
    """
    cycles = np.array([each for each in _CYCLES if each >= 4 * background.lift.width])
    at = cycles[:, None] * np.arange(1, _MULTIPLES + 1, dtype=np.float64)
    on, bins = (each.sum(axis=1) for each in _pairs(background, at, cycles[:, None] * _NEAR))
    halfway = at + cycles[:, None] / 2
    between, others = (each.sum(axis=1) for each in _pairs(background, halfway, cycles[:, None] * _MIDDLE))
    return bool((between * bins < _DESERTED * on * others).any())


def on_pairs(
    background: Background, periods: Float64Array, halves: Float64Array, multiples: int
) -> BoolArray:
    """Whether all teeth of a comb are where there are pairs: as many as in a whole cycle about them, by bin.

    Args:
        background: With its groups.
        periods: In seconds, shape ``(combs,)``.
        halves: Half the width of the teeth, likewise.
        multiples: Teeth of each comb; those beyond the lift do not count.

    Returns:
        Shape ``(combs,)``.
    """
    at = periods[:, None] * np.arange(1, multiples + 1)
    on, bins = _pairs(background, at, halves[:, None])
    around, others = _pairs(background, at, periods[:, None] / 2)
    return np.asarray(((bins == 0) | ((on > 0) & (on * others >= around * bins))).all(axis=1))


def _pairs(
    background: Background, centres: Float64Array, half: Float64Array
) -> tuple[Float64Array, Int64Array]:
    """Pairs expected to be the same in the bins around some lags, and how many bins that are."""
    bins = len(background.expected)
    first, last = window_bins(centres, np.broadcast_to(half, centres.shape), background.lift.width, bins)
    sums = background.summed_expected
    return np.asarray(sums[last] - sums[first]), last - first
