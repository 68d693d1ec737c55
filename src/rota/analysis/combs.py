"""Combs: how much higher a lift is at whole multiples of a period than between them."""

from dataclasses import dataclass

import numpy as np

from rota.analysis.background import Background
from rota.analysis.narrowness import half_gaps, is_narrow, on_pairs
from rota.analysis.windows import window_bins
from rota.types import BoolArray, Float64Array

__all__: list[str] = []

MULTIPLES = 8
SHARPNESS = (1 / 8, 1 / 24, 1 / 64)  # half a tooth, in periods


@dataclass(frozen=True, eq=False)
class Combs:
    """What a background has left on the teeth of combs, against the gaps on both sides of each tooth.

    A tooth holds the bins within half its width of a multiple of the period, one at least; the gap between
    two teeth is what `half_gaps` says. Being set against both its sides, a tooth on a slope is no higher than
    they are, and one on a curve of recency lower. A tooth weighs as much as the pairs in it and in its gaps
    can tell.

    Attributes:
        periods: Of each comb in seconds, shape ``(combs,)``.
        halves: Half the width of its teeth in seconds, shape ``(combs,)``.
        weights: Of each tooth, shape ``(combs, multiples)``: one over the variance of its contrast, in pairs
            expected to be the same; 0 where a tooth or a gap of it holds none, or begins beyond the lift.
        contrasts: Lift of a tooth above the mean of its gaps, what each group adds to it; shape
            ``(combs, multiples, groups)``.
        judged: Whether there are pairs to judge each comb by, see `lay_combs`; shape ``(combs,)``.
    """

    periods: Float64Array
    halves: Float64Array
    weights: Float64Array
    contrasts: Float64Array
    judged: BoolArray

    def mean(self, teeth: BoolArray | None = None) -> tuple[Float64Array, Float64Array]:
        """Weighted mean of some teeth's contrasts, what each group adds to it, and their weight.

        Args:
            teeth: Which, shape ``(combs, multiples)``; all by default.

        Returns:
            Shapes ``(combs, groups)`` and ``(combs,)``; where there is no such tooth both are 0.
        """
        weights = self.weights if teeth is None else self.weights * teeth
        total = weights.sum(axis=1)
        shares = weights / np.where(total > 0, total, 1.0)[:, None]
        return (shares[:, None, :] @ self.contrasts)[:, 0], total

    def of(self, chosen: BoolArray) -> "Combs":
        """Some of them: ``chosen`` has the shape ``(combs,)``."""
        return Combs(
            self.periods[chosen], self.halves[chosen], self.weights[chosen], self.contrasts[chosen],
            self.judged[chosen],
        )  # fmt: skip


def lay_combs(
    background: Background, periods: Float64Array, halves: Float64Array, multiples: int = MULTIPLES
) -> Combs:
    """Lay combs on what a background has left.

    Args:
        background: With its groups.
        periods: In seconds, shape ``(combs,)``.
        halves: Half the width of the teeth, likewise.
        multiples: Teeth of each comb.

    Returns:
        Combs. One is not judged if the lift is narrow, see `is_narrow`, and a tooth of it is where there are
        fewer pairs than about it: it drifts out of the hours in which people are there, and what its other
        teeth have in common may be that they come before, or after, whole days.
    """
    step = np.arange(multiples + 1)
    on, lefts = _windows(background, periods[:, None] * step[1:], halves[:, None])
    gaps = half_gaps(background, periods, halves)
    judged = np.ones(len(periods), np.bool_)
    if is_narrow(background):
        judged = on_pairs(background, periods, halves, multiples)
    off, others = _windows(background, periods[:, None] * (step + 0.5), gaps[:, None])
    before, after = off[:, :-1], off[:, 1:]
    some = (on > 0) & (before > 0) & (after > 0)
    over, up, down = (
        np.divide(1.0, expected, out=np.zeros_like(expected), where=some) for expected in (on, before, after)
    )
    spread = over + (up + down) / 4
    weights = np.divide(1.0, spread, out=np.zeros_like(spread), where=some)
    sides = others[:, :-1] * up[:, :, None] + others[:, 1:] * down[:, :, None]
    return Combs(periods, halves, weights, lefts * over[:, :, None] - sides / 2, judged)


def _windows(
    background: Background, centres: Float64Array, half: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Sums over the bins around some lags: pairs expected to be the same, and what each group has left.

    Returns:
        Shapes ``(combs, windows)`` and ``(combs, windows, groups)``; 0 for a window beyond the lift, and of
        one that its end cuts the part within.
    """
    bins = len(background.expected)
    first, last = window_bins(centres, np.broadcast_to(half, centres.shape), background.lift.width, bins)
    sums = background.summed_expected
    return sums[last] - sums[first], background.summed[last] - background.summed[first]
