"""Frequencies at which a tail probability is reached: quantiles of laws that have no formula for them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rota.types import Float64Array

__all__: list[str] = []

Function = Callable[[Float64Array], Float64Array]

# Logarithms of the absolute frequency over the scale: heavy tails go far, and most roots lie about 1.
_LOGS = np.concatenate([np.arange(-80.0, -8.0, 2.0), np.arange(-8.0, 6.0, 0.02), np.arange(6.0, 100.0, 1.0)])
_STEPS = 200  # of Newton or halving; three to five are usual


@dataclass(frozen=True, eq=False)
class SurvivalInverse:
    """Inverse of a decreasing, continuous survival function of the absolute frequency.

    A table brackets each root, which Newton's method then finds inside the bracket; where its step would
    leave the bracket, that is halved.

    Attributes:
        survival: Probability of an absolute frequency above ``x``; takes and gives any shape.
        density: What the survival loses per frequency, likewise.
        scale: Of the frequencies, in cycles per second.
    """

    survival: Function
    density: Function
    scale: float

    @cached_property
    def _table(self) -> tuple[Float64Array, Float64Array]:
        places = np.concatenate([[0.0], self.scale * np.exp(_LOGS)])
        return places, np.minimum.accumulate(self.survival(places))

    def __call__(self, target: Float64Array) -> Float64Array:
        """Frequencies ``x >= 0`` with ``survival(x)`` equal to a target; any shape, 0 beyond ``survival(0)``.

        Args:
            target: Probabilities above 0.
        """
        wanted = np.asarray(target, np.float64).ravel()
        places, table = self._table
        after = np.clip(np.searchsorted(-table, -wanted, side="right"), 1, len(places) - 1)
        low, high = places[after - 1], places[after]
        low_survival, high_survival = table[after - 1], table[after]
        fall = np.where(low_survival > high_survival, low_survival - high_survival, 1.0)
        found = low + (high - low) * np.clip((low_survival - wanted) / fall, 0.0, 1.0)
        found[wanted >= table[0]] = 0.0
        open_ = np.flatnonzero(wanted < table[0])
        for _ in range(_STEPS):
            if not len(open_):
                break
            x = found[open_]
            excess = self.survival(x) - wanted[open_]
            above = excess > 0  # the survival is still too large: the root lies further out
            low[open_], high[open_] = np.where(above, x, low[open_]), np.where(above, high[open_], x)
            slope = self.density(x)
            with np.errstate(over="ignore"):  # a slope that small is none: infinity, too
                step = np.divide(excess, slope, out=np.full(x.shape, np.inf), where=slope > 0)
            inside = (x + step > low[open_]) & (x + step < high[open_])
            moved = np.where(inside, x + step, (low[open_] + high[open_]) / 2)
            done = (np.abs(moved - x) <= 4e-16 * x) | (np.abs(excess) <= 2e-16 * wanted[open_])
            found[open_] = np.where(np.abs(excess) <= 2e-16 * wanted[open_], x, moved)
            open_ = open_[~done]
        return found.reshape(np.shape(target))
