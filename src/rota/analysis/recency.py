"""Recency: how much more a lift is at short lags than at long ones, and how soon that is gone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rota.analysis.background import fit_background
from rota.analysis.lift import Lift, resample_weights
from rota.types import Float64Array, Int64Array

__all__: list[str] = ["Octave", "Recency", "find_recency", "octaves_of", "recency_is_told"]

LEAST = 0.05  # of chance, for the lower end of the interval
_FAR = 4.0  # lags beyond one part in so many of the longest are far
_FLIPS = 1000
_RESAMPLES = 1000


@dataclass(frozen=True)
class Octave:
    """The lift over lags from one to the next power of two, less what periods add to it.

    Attributes:
        shortest: Where it begins, in seconds.
        longest: Where it ends.
        lift: Mean, by pairs expected to be the same.
        lo: Lower end of its interval, by bootstrap over users.
        hi: Upper end.
    """

    shortest: float
    longest: float
    lift: float
    lo: float
    hi: float


@dataclass(frozen=True)
class Recency:
    """What is gained by an event being recent, whatever the hour.

    Attributes:
        strength: Lift of the octave where it is surest, above that at far lags; 1 is chance once more.
        lo: Lower end of its interval, by bootstrap over users.
        hi: Upper end.
        lag: Middle of that octave, in seconds.
        half_life: Lag at which half of the strength is left, in seconds.
        half_life_lo: Lower end of its interval.
        half_life_hi: Upper end.
    """

    strength: float
    lo: float
    hi: float
    lag: float
    half_life: float
    half_life_lo: float
    half_life_hi: float


@dataclass(frozen=True, eq=False)
class _Levels:
    """Sums over stretches of lags that hold expected pairs, shortest first.

    Attributes:
        begins: Of each stretch, in seconds, shape ``(stretches,)``.
        ends: Likewise.
        same: Pairs of the same item less what periods add, of each group, shape ``(groups, stretches)``.
        expected: As many are expected by chance.
    """

    begins: Float64Array
    ends: Float64Array
    same: Float64Array
    expected: Float64Array

    @property
    def middles(self) -> Float64Array:
        """In the logarithm of the lag, shape ``(stretches,)``."""
        return np.sqrt(self.begins * self.ends)

    def lift(self, weights: Float64Array) -> Float64Array:
        """Of each stretch in each sample of groups, shape ``(samples, stretches)``; NaN without pairs."""
        with np.errstate(invalid="ignore"):
            ratio: Float64Array = (weights @ self.same) / (weights @ self.expected)
        return ratio

    @property
    def whole(self) -> Float64Array:
        """The lift of each stretch, all groups together, shape ``(stretches,)``."""
        return np.asarray(self.lift(np.ones((1, len(self.same))))[0])


def octaves_of(lift: Lift, periods: Sequence[float] = (), *, seed: int = 0) -> tuple[Octave, ...]:
    """The lift by octaves of the lag, without what periods add.

    Args:
        lift: What was counted.
        periods: Found in it, in seconds.
        seed: Of the bootstrap.
    """
    levels = _levels(lift, periods, _octave(lift))
    drawn = levels.lift(resample_weights(len(levels.same), _RESAMPLES, seed))
    lo, hi = np.nanquantile(drawn, [0.025, 0.975], axis=0)
    rows = zip(levels.begins, levels.ends, levels.whole, lo, hi, strict=True)
    return tuple(Octave(*(float(each) for each in row)) for row in rows)


def find_recency(
    lift: Lift, periods: Sequence[float] = (), *, level: float = 0.01, seed: int = 0
) -> Recency | None:
    """Set each octave of the lag against far lags, those beyond a quarter of the longest, without periods.

    Of all octaves one must be higher than the highest would be by chance, as in `scan_periods`, and its
    interval above ``LEAST``.

    Args:
        lift: What was counted.
        periods: Found in it, in seconds.
        level: Chance that recency is found where there is none.
        seed: Of what is drawn.

    Returns:
        Recency, or ``None``: then short lags are not above far ones.
    """
    if not recency_is_told(lift):
        return None
    levels = _levels(lift, periods, _near_and_far(lift))
    groups, whole = len(levels.same), levels.whole
    pooled = levels.same.sum() / levels.expected.sum()
    beyond = (levels.same - pooled * levels.expected) / levels.expected.sum(axis=0)
    parts = beyond[:, :-1] - beyond[:, -1:]  # zero on average where there is no recency
    size = np.sqrt((parts**2).sum(axis=0))
    unit = np.divide(parts, size, out=np.zeros_like(parts), where=size > 0)
    flips = np.random.default_rng(seed).choice(np.array([-1.0, 1.0]), (_FLIPS, groups))
    critical = np.quantile((flips @ unit).max(axis=1), 1 - level)
    drawn = levels.lift(resample_weights(groups, _RESAMPLES, seed))
    lo, hi = np.nanquantile(drawn[:, :-1] - drawn[:, -1:], [0.025, 0.975], axis=0)
    surest = np.where(unit.sum(axis=0) > critical, lo, -np.inf)
    best = int(np.argmax(surest))
    if surest[best] < LEAST:
        return None
    halves = np.array([_half_life(levels.middles, each, best) for each in drawn])
    half_lo, half_hi = np.nanquantile(halves, [0.025, 0.975])
    return Recency(
        strength=float(whole[best] - whole[-1]),
        lo=float(lo[best]),
        hi=float(hi[best]),
        lag=float(levels.middles[best]),
        half_life=_half_life(levels.middles, whole, best),
        half_life_lo=float(half_lo),
        half_life_hi=float(half_hi),
    )


def recency_is_told(lift: Lift) -> bool:
    """Whether a lift has pairs both near and far, so that one can be set against the other.

    Args:
        lift: What was counted.
    """
    number, some = _near_and_far(lift), lift.expected.sum(axis=0) > 0
    far = number == number[-1]
    return bool(some[far].any() and some[~far].any())


def _near_and_far(lift: Lift) -> Int64Array:
    """Number of each bin's octave, and one more for all that are far; shape ``(bins,)``."""
    octave, far = _octave(lift), lift.lags > lift.lags[-1] / _FAR
    return np.asarray(np.where(far, octave[-1] + 1, octave))


def _half_life(middles: Float64Array, lifts: Float64Array, best: int) -> float:
    """Where lines between stretches, in the lag's logarithm, first fall to half of the best."""
    half, place = (lifts[best] + lifts[-1]) / 2, np.log(middles)
    for after in range(best + 1, len(lifts)):
        if lifts[after] <= half:
            before, then = lifts[after - 1], lifts[after]
            part = (before - half) / (before - then)
            return float(np.exp(place[after - 1] + part * (place[after] - place[after - 1])))
    return float(middles[-1])


def _octave(lift: Lift) -> Int64Array:
    """Number of each bin's octave, from one bin on; shape ``(bins,)``."""
    return np.floor(np.log2(np.arange(1, len(lift.lags) + 1))).astype(np.int64)


def _levels(lift: Lift, periods: Sequence[float], number: Int64Array) -> _Levels:
    """Sums over the bins of each number, which rise."""
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    ends = np.append(starts[1:], len(number)) - 1
    same = lift.same - lift.expected * fit_background(lift, periods).periodic
    same, expected = (np.add.reduceat(part, starts, axis=1) for part in (same, lift.expected))
    known, half = expected.sum(axis=0) > 0, lift.width / 2
    return _Levels(
        (lift.lags[starts] - half)[known], (lift.lags[ends] + half)[known], same[:, known], expected[:, known]
    )
