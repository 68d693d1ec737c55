"""Periods: found in a lift without being told, the strongest first, each taken away with its harmonics."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rota.analysis.background import Background, fit_background
from rota.analysis.combs import MULTIPLES, SHARPNESS, lay_combs, window_bins
from rota.analysis.lift import Lift, resample_weights
from rota.analysis.scanning import DAY, Scan, every_sharpness, is_part, rate, scan_periods
from rota.errors import InputError
from rota.types import BoolArray, Float64Array
from rota.units import duration_text

__all__: list[str] = ["Period", "PeriodSearch", "find_periods", "search_periods"]

SHORTEST, LONGEST = 7200.0, 90 * 86_400.0
CYCLES = 2.5  # of a period that a lift must hold: two teeth, and gaps on both sides of each
LEAST = 0.05  # of chance: a contrast below says nothing, however sure it is
LEAST_OF_FIRST = 0.10  # of the strongest: what is weaker may be left over from it
_STEP = 1 / 400  # from one candidate to the next
_MOST = 5
_PARTS, _NEAR, _LIKE = 8, 0.008, 0.9  # of a period that may be several times the true one
_LEAST_Z = 2.5
_FINE, _AROUND, _TEETH = 1 / 4000, 0.015, 24  # of the candidates around one that was found
_SAME = 0.97  # of the greatest score: periods that cannot be told apart
_ROUND = (604_800, 86_400, 43_200, 21_600, 3600, 1800, 900, 300, 60)
_RESAMPLES = 2000
_CALENDAR = (DAY, 7 * DAY)


@dataclass(frozen=True)
class Period:
    """A period of a lift.

    Attributes:
        seconds: Its length: the roundest of those that cannot be told apart.
        shortest: The shortest of them.
        longest: The longest.
        strength: Lift at its first multiples above that between them: 1 is as often again as chance.
        lo: Lower end of its interval, by bootstrap over users; as one of many, see ``z`` instead.
        hi: Upper end.
        half: The strength is the mean so many seconds around the multiples.
        z: Strength over its spread where there is no period.
        critical: What the greatest of all that were looked at has by chance, at the level of the search.
    """

    seconds: float
    shortest: float
    longest: float
    strength: float
    lo: float
    hi: float
    half: float
    z: float
    critical: float


@dataclass(frozen=True)
class PeriodSearch:
    """What was looked for, and what was found.

    Attributes:
        periods: The strongest first; none if there is none.
        shortest: Shortest period looked for, in seconds.
        longest: Longest.
        least: Strength that a day and a week needed to be told from chance, by their seconds, where they were
            looked for; with teeth a twelfth of a cycle wide.
    """

    periods: tuple[Period, ...]
    shortest: float
    longest: float
    least: dict[float, float]


def period_range(
    longest_lag: float, width: float, shortest: float = SHORTEST, longest: float = LONGEST
) -> tuple[float, float]:
    """Shortest and longest period that a lift can show, in seconds; none if the second is below the first.

    Args:
        longest_lag: Of the lift, in seconds.
        width: Of its bins.
        shortest: Looked for.
        longest: Likewise.
    """
    return max(shortest, 2 * width), min(longest, longest_lag / CYCLES)


def find_periods(
    lift: Lift,
    *,
    shortest: float = SHORTEST,
    longest: float = LONGEST,
    level: float = 0.01,
    seed: int = 0,
) -> tuple[Period, ...]:
    """Periods of a lift, the strongest first: what `search_periods` finds."""
    return search_periods(lift, shortest=shortest, longest=longest, level=level, seed=seed).periods


def search_periods(
    lift: Lift,
    *,
    shortest: float = SHORTEST,
    longest: float = LONGEST,
    level: float = 0.01,
    seed: int = 0,
    report: Callable[[int, int], None] = lambda _done, _total: None,
) -> PeriodSearch:
    """Look for periods by combs, see `scan_periods`: the one that explains most, and again beside it.

    What was found is fitted with any shape, which may fade with the lag, and taken away; so harmonics of it
    are not found, nor multiples: a week beside a day is one only by what it has beyond the day. A period
    whose half (or third, to an eighth) is as strong is several times the true one, which is taken instead.

    Contrasts below a twentieth of chance, or a tenth of the strongest, are not reported.

    Args:
        lift: What was counted.
        shortest: Periods in seconds from it on; two bins at least.
        longest: To it; the lift must reach 2.5 times as far.
        level: Chance that any period is found where there is none.
        seed: Of what is drawn.
        report: Told of the searches done and of the most there may be.

    Raises:
        InputError: The lift holds 2.5 cycles of no such period.
    """
    low, high = period_range(float(lift.lags[-1]), lift.width, shortest, longest)
    if not 0 < low <= high:
        raise InputError(
            f"periods from {duration_text(shortest)} to {duration_text(longest)} in lags up to "
            f"{duration_text(float(lift.lags[-1]))} by {duration_text(lift.width)}: none has two bins and "
            f"{CYCLES:g} cycles; look for others, or take a longer log"
        )
    tried = low * np.exp(np.arange(0.0, np.log(high / low) + 1e-12, _STEP))
    found: list[Period] = []
    least: dict[float, float] = {}
    for search in range(_MOST):
        report(search, _MOST)
        known = [each.seconds for each in found]
        background, plain = fit_background(lift, known), fit_background(lift, known, trend=False)
        hours = None if DAY in known or not low <= DAY <= high else fit_background(lift, [*known, DAY])
        scan = scan_periods(background, plain, hours, tried, known, level, seed)
        least = least or _least(background, scan, low, high)
        best = _strongest(scan, known)
        if best is None:
            break
        one = _measured(background, scan, best, seed)
        if found and one.strength < LEAST_OF_FIRST * found[0].strength:
            break
        found.append(one)
    report(_MOST, _MOST)
    return PeriodSearch(tuple(found), low, high, least)


def _least(background: Background, scan: Scan, low: float, high: float) -> dict[float, float]:
    """Strengths that a day and a week need to be told from chance."""
    periods = np.array([each for each in _CALENDAR if low <= each <= high])
    if not len(periods):
        return {}
    parts, _ = lay_combs(background, periods, periods * SHARPNESS[1]).mean()
    size = scan.critical * np.sqrt((parts**2).sum(axis=1))
    return {float(each): float(needed) for each, needed in zip(periods, size, strict=True) if needed > 0}


def _strongest(scan: Scan, known: list[float]) -> int | None:
    """The comb with the best score among those that are shown, or the one that it is a multiple of."""
    shown = scan.shown & (scan.contrast >= LEAST)
    for period in known:
        shown &= ~is_part(scan.periods, period)
    passed = shown & (scan.z > scan.critical)
    if not passed.any():
        return None
    best = _highest(scan, passed)
    while (part := _part_of(scan, shown, best)) is not None:
        best = part
    return best


def _part_of(scan: Scan, shown: BoolArray, whole: int) -> int | None:
    """The best comb whose period goes several times into that of another, and that is as strong."""
    parts = scan.periods[whole] / scan.periods
    near = (
        (np.rint(parts) >= 2)
        & (np.rint(parts) <= _PARTS)
        & (np.abs(parts / np.maximum(np.rint(parts), 1) - 1) < _NEAR)
    )
    near &= shown & (scan.z > _LEAST_Z) & (scan.contrast > _LIKE * scan.contrast[whole])
    return _highest(scan, near) if near.any() else None


def _highest(scan: Scan, among: BoolArray) -> int:
    return int(np.argmax(np.where(among, scan.score, -np.inf)))


def _measured(background: Background, scan: Scan, best: int, seed: int) -> Period:
    """The period more exactly than candidates lie, by more teeth than they were found by."""
    coarse, reach = float(scan.periods[best]), float(background.lift.lags[-1])
    fine = coarse * np.exp(np.arange(-_AROUND, _AROUND, _FINE))
    teeth = max(min(_TEETH, int(reach / coarse - 0.5)), 2)
    periods, halves = every_sharpness(fine)
    score = rate(lay_combs(background, periods, halves, teeth))[2]
    top = int(np.argmax(score))
    alike = periods[score >= _SAME * score[top]]
    slack = halves[top] / teeth / 2  # the last tooth still meets its peak
    low = min(float(alike.min()), float(periods[top] - slack))
    high = max(float(alike.max()), float(periods[top] + slack))
    period, half = _roundest(float(periods[top]), low, high), float(halves[top])
    strength, lo, hi = _strength(background, period, half, seed)
    return Period(period, low, high, strength, lo, hi, half, float(scan.z[best]), scan.critical)


def _roundest(period: float, low: float, high: float) -> float:
    """Whole weeks, days, half days and so on down to minutes, if one of them lies between."""
    near = (float(round(period / step) * step) for step in _ROUND)
    return next((each for each in near if each > 0 and low <= each <= high), period)


def _strength(background: Background, period: float, half: float, seed: int) -> tuple[float, float, float]:
    """Contrast of the first teeth with its interval: a group counts by how far it is from the others."""
    combs = lay_combs(background, np.array([period]), np.array([half]))
    shares = combs.weights[0] / combs.weights[0].sum()
    step = np.arange(MULTIPLES + 1, dtype=np.float64)
    teeth = _beyond_mean(background, period * step[1:], half)
    gaps = _beyond_mean(background, period * (step + 0.5), period / 4)
    own = (teeth - (gaps[:, :-1] + gaps[:, 1:]) / 2) @ shares
    strength = float(combs.contrasts[0].sum(axis=1) @ shares)
    drawn = strength + (resample_weights(len(own), _RESAMPLES, seed) - 1) @ own
    lo, hi = np.quantile(drawn, [0.025, 0.975])
    return strength, float(lo), float(hi)


def _beyond_mean(background: Background, centres: Float64Array, half: float) -> Float64Array:
    """How far each group moves the mean of what is left in some windows, shape ``(groups, windows)``."""
    first, last = window_bins(
        centres, np.full_like(centres, half), background.lift.width, len(background.expected)
    )
    columns = []
    for begin, end in zip(first, last, strict=True):
        left = background.left[:, begin:end].sum(axis=1)
        expected = background.lift.expected[:, begin:end].sum(axis=1)
        whole = expected.sum()
        columns.append((left - expected * left.sum() / whole) / whole if whole > 0 else np.zeros_like(left))
    return np.stack(columns, axis=1)
