"""Scanning: which of many periods a lift shows, when so many are looked at."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rota.analysis.background import Background
from rota.analysis.combs import SHARPNESS, Combs, lay_combs
from rota.analysis.narrowness import is_narrow
from rota.types import BoolArray, Float64Array

__all__: list[str] = []

DAY = 86_400.0
PART = 0.03  # a period and a whole part of another, so near, are taken for one
_AT_ONCE = 256  # combs
_FLIPS = 500
_LEAST_Z = 2.5  # that a family of teeth reaches by itself
_LEAST_SHARE, _SOME_SHARE = 0.5, 0.25  # of the contrast of all teeth that a family has, and a part of one
_PRIMES = (3, 5, 7)
_PEAK = 2  # half widths of the tooth that tells a peak best, which is the peak's middle: all of the peak
_MOST_PEAK = 1 / 12  # of its period: what is wider is a wave, on which something else may well stand


@dataclass(frozen=True, eq=False)
class Scan:
    """Combs of many periods on one lift; all arrays have the shape ``(combs,)``.

    Attributes:
        periods: In seconds.
        halves: Half the width of the teeth in seconds.
        contrast: Lift on the teeth above that between them.
        z: The same over its spread among groups.
        score: The same in standard deviations that it would have if pairs were independent: who has the
            most explains the most.
        shown: Every family of teeth rises: see `scan_periods`.
        critical: What the greatest ``z`` of all combs exceeds by chance as often as the level says.
    """

    periods: Float64Array
    halves: Float64Array
    contrast: Float64Array
    z: Float64Array
    score: Float64Array
    shown: BoolArray
    critical: float


def scan_periods(
    background: Background,
    plain: Background,
    hours: Background | None,
    periods: Float64Array,
    known: Sequence[tuple[float, float]],
    level: float,
    seed: int,
) -> Scan:
    """Lay combs of each period, with teeth of three widths, and judge them.

    Many are looked at, so a comb must be higher than the highest of all would be by chance. The law of that
    is found by giving the sum of each group of users a random sign, in all combs alike: users are
    independent, and where there is no period their contrasts are as often above zero as below (a wild
    bootstrap, centred at no period). The comb's own contrast is counted in the spread, so that one user,
    however busy, is never enough.

    A period returns each time. So of a comb every family of teeth must rise by itself: the odd and the even
    ones, those that are no multiple of 3, 5 or 7, and, if less, each third and each fourth of them. A third
    of the true period has no teeth there but those that are multiples of 3; an item that returns once has no
    even ones. Twice the true period passes, which `search_periods` sees to. Families must also rise above a
    plain constant: beside a single bump the fitted trend dips. And what is no part of a day must rise above
    the shape of a day: people have busy hours, so the number of events between two depends on the hours
    between them in no even way, and recency by that number leaves dips and bumps at hours of the day. Teeth
    that fall on the peak of a known period, which has taken its share of them, are in no family, unless all
    do: where its cycles are uneven, as months are, something is left there that is no period. A comb that
    there are no pairs to judge by is not shown, see `lay_combs`. Where people are there for few hours of the
    day, what is nearly a day is shown only if a day itself rises: recency from event to event leaves a slope
    in the block of pairs about each whole day, and teeth to one side of its middle rise on that.

    Args:
        background: Trend and known periods.
        plain: Known periods with no trend.
        hours: Trend, known periods and a day; ``None`` where a day is known already, or cannot be.
        periods: In seconds, shape ``(periods,)``.
        known: Periods that were found already, and half the width of their teeth, in seconds.
        level: Chance that any period is found where there is none.
        seed: Of the signs.
    """
    rng = np.random.default_rng(seed)
    flips = rng.choice(np.array([-1.0, 1.0], np.float32), (len(background.left), _FLIPS))
    periods, halves = every_sharpness(periods)
    greatest = np.full(_FLIPS, -np.inf, np.float32)
    day_may_be = not is_narrow(background) or _day_rises(background)
    parts = []
    for first in range(0, len(periods), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        combs = lay_combs(background, periods[some], halves[some])
        contrast, z, score, unit = rate(combs)
        greatest = np.maximum(greatest, (unit.astype(np.float32) @ flips).max(axis=0))
        shown = z > _LEAST_Z
        if shown.any():
            shown[shown] = _all_rise(combs.of(shown), background.lift.width, known)
        if shown.any():
            again = lay_combs(plain, combs.periods[shown], combs.halves[shown])
            shown[shown] = _all_rise(again, background.lift.width, known)
        if shown.any() and hours is not None:
            again = lay_combs(hours, combs.periods[shown], combs.halves[shown])
            of_day = is_part(again.periods, DAY)
            with_day = [*known, (DAY, 0.0)]
            shown[shown] = (of_day & day_may_be) | _all_rise(again, background.lift.width, with_day)
        parts.append((contrast, z, score, shown))
    contrast, z, score, shown = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Scan(periods, halves, contrast, z, score, shown, float(np.quantile(greatest, 1 - level)))


def _day_rises(background: Background) -> bool:
    """Whether teeth at whole days do, of any width."""
    days, halves = every_sharpness(np.array([DAY]))
    _, z, _, _ = rate(lay_combs(background, days, halves))
    return bool((z > _LEAST_Z).any())


def is_part(periods: Float64Array, whole: float) -> BoolArray:
    """Whether a period goes a whole number of times into another, nearly."""
    times = np.maximum(np.rint(whole / periods), 1)
    return np.asarray(np.abs(whole / periods / times - 1) <= PART)


def every_sharpness(periods: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Each period as often as there are widths of teeth, and half of those widths."""
    halves = np.multiply.outer(periods, np.array(SHARPNESS)).ravel()
    return np.repeat(periods, len(SHARPNESS)), halves


def rate(combs: Combs) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
    """Contrast, z and score of each comb, shape ``(combs,)``; and the groups' parts of z, by comb."""
    parts, weight = combs.mean()
    size = np.sqrt((parts**2).sum(axis=1, keepdims=True))
    unit = np.divide(parts, size, out=np.zeros_like(parts), where=size > 0)
    contrast = parts.sum(axis=1)
    return contrast, unit.sum(axis=1), contrast * np.sqrt(weight), unit


def _all_rise(combs: Combs, width: float, known: Sequence[tuple[float, float]]) -> BoolArray:
    """Whether each family of teeth of each comb does, shape ``(combs,)``."""
    number = np.arange(1, combs.weights.shape[1] + 1)
    free = np.ones(combs.weights.shape, np.bool_)
    for period, half in known:
        place = combs.periods[:, None] * number / period
        reach = combs.halves[:, None] + width + min(_PEAK * half, _MOST_PEAK * period)
        on = np.abs(place - np.rint(place)) * period <= reach
        free &= ~on | on.all(axis=1, keepdims=True)
    order = np.cumsum(free, axis=1)
    families = [free & (order % 2 == odd) for odd in (0, 1)] + [free & (number % p != 0) for p in _PRIMES]
    parts = [free & (order % some == rest) for some in (3, 4) for rest in range(some)]
    least = combs.mean()[0].sum(axis=1)
    rise: BoolArray = combs.judged & (least > 0)
    for teeth in families:
        some, there = combs.mean(teeth)
        contrast, size = some.sum(axis=1), np.sqrt((some**2).sum(axis=1))
        rise &= (there > 0) & (contrast > _LEAST_Z * size) & (contrast > _LEAST_SHARE * least)
    for teeth in parts:
        some, there = combs.mean(teeth)
        rise &= (there == 0) | (some.sum(axis=1) > _SOME_SHARE * least)
    return rise
