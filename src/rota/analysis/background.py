"""Background: what of a lift is known, a trend with the lag and periods found, and what is left beyond it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from rota.analysis.lift import Lift
from rota.types import Float64Array

__all__: list[str] = []

_PHASES = 192  # of a period at most: its shape is known to a part in so many
_FADING = ((3.0, 6.0), (20.0, 15.0))  # a shape may fade over so many cycles, where a lift has so many
_RIDGE = 1e-9  # of the diagonal: phases that no pair has are not known


@dataclass(frozen=True, eq=False)
class Background:
    """A lift fitted by least squares, where a bin weighs as many pairs as were expected to be the same.

    The trend is a line from octave to octave of the lag: it bends too slowly to follow a period beyond its
    first cycles. A period has any shape, so all its harmonics, which may fade with the lag, and it is zero on
    average over a cycle. The fit is linear, so what is left is a sum over groups of users: it is zero on
    average where nothing but the background is, and its sums over any bins spread as groups do.

    Attributes:
        lift: What was fitted.
        expected: Pairs expected to be the same, of all groups together, shape ``(bins,)``.
        trend: The fitted trend, shape ``(bins,)``.
        periodic: The fitted periods together, shape ``(bins,)``; trend plus periods is the fitted lift.
        left: Pairs of the same item beyond the fit, of each group, shape ``(groups, bins)``.
    """

    lift: Lift
    expected: Float64Array
    trend: Float64Array
    periodic: Float64Array
    left: Float64Array

    @cached_property
    def summed_expected(self) -> Float64Array:
        """Running sums over the bins of ``expected``, from nothing on; shape ``(bins + 1,)``."""
        return np.concatenate([[0.0], np.cumsum(self.expected)])

    @cached_property
    def summed(self) -> Float64Array:
        """Running sums over the bins of what is left, from nothing on; shape ``(bins + 1, groups)``."""
        sums = np.zeros((self.left.shape[1] + 1, self.left.shape[0]))
        np.cumsum(self.left.T, axis=0, out=sums[1:])
        return sums


def fit_background(lift: Lift, periods: Sequence[float] = (), *, trend: bool = True) -> Background:
    """Fit a trend and periods to a lift.

    Args:
        lift: What was counted.
        periods: In seconds.
        trend: Let the level change with the lag; otherwise it is one constant.
    """
    expected = lift.expected.sum(axis=0)
    slow = _octaves(lift.lags) if trend else sparse.csr_array(np.ones((len(lift.lags), 1)))
    shapes = [_shape(lift.lags, period, lift.width) for period in periods]
    design = sparse.hstack([slow, *shapes], format="csr")
    weighted = sparse.csr_array(design.multiply(expected[:, None]))
    gram = sparse.csc_array(design.T @ weighted)
    diagonal = gram.diagonal()
    ridge = _RIDGE * (diagonal + diagonal.mean()) + np.finfo(np.float64).tiny
    solve = splu(sparse.csc_array(gram + sparse.diags_array(ridge))).solve
    weights = solve(design.T @ lift.same.sum(axis=0).astype(np.float64))
    level = slow @ weights[: slow.shape[1]]
    periodic = design @ weights - level
    left = lift.same - lift.expected * (level + periodic)
    left -= (weighted @ solve(np.ascontiguousarray(design.T @ left.T))).T
    return Background(lift, expected, level, periodic, left)


def _octaves(lags: Float64Array) -> sparse.csr_array:
    """Lines between the octaves of the lag, in its logarithm; shape ``(bins, octaves)``."""
    octaves = np.log2(lags / lags[0])
    return _hats(octaves, max(int(np.ceil(octaves[-1])), 1) + 1)


def _shape(lags: Float64Array, period: float, width: float) -> sparse.csr_array:
    """Lines between the phases of a period, zero on average, that may fade; shape ``(bins, columns)``."""
    phases = max(2, min(round(period / width), _PHASES))
    around = _hats(lags / period % 1 * phases, phases + 1)
    knots = np.arange(phases + 1)  # the last of them is the first again; each phase rises as the next falls
    rise = sparse.coo_array((np.ones(phases + 1), (knots, knots % phases)), shape=(phases + 1, phases))
    fall = sparse.coo_array((np.ones(phases + 1), (knots, (knots - 1) % phases)), shape=rise.shape)
    shape = sparse.csr_array(around @ (rise - fall))[:, :-1]
    cycles = lags[-1] / period
    fading = [
        sparse.csr_array(shape.multiply(np.exp(-lags / (scale * period))[:, None]))
        for scale, least in _FADING
        if cycles >= least
    ]
    return sparse.hstack([shape, *fading], format="csr")


def _hats(place: Float64Array, knots: int) -> sparse.csr_array:
    """Weights of the two knots 0, 1, ... beside each place; shape ``(places, knots)``."""
    below = np.minimum(np.floor(place).astype(np.int64), knots - 2)
    above = place - below
    values, columns = np.concatenate([1 - above, above]), np.concatenate([below, below + 1])
    rows = np.tile(np.arange(len(place)), 2)
    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(len(place), knots)))
