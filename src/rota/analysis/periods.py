"""Periods: found in a lift without being told, the strongest first, each taken away with its harmonics."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rota.analysis.background import Background, fit_background
from rota.analysis.combs import SHARPNESS, lay_combs
from rota.analysis.lift import Lift
from rota.analysis.period import Period, measure_period
from rota.analysis.scanning import DAY, Scan, is_part, scan_periods
from rota.errors import InputError
from rota.types import BoolArray
from rota.units import duration_text

__all__: list[str] = ["PeriodSearch", "find_periods", "search_periods"]

SHORTEST, LONGEST = 7200.0, 90 * 86_400.0
CYCLES = 2.5  # of a period that a lift must hold: two teeth, and gaps on both sides of each
LEAST = 0.05  # of chance: a contrast below says nothing, however sure it is
LEAST_OF_FIRST = 0.10  # of the strongest: what is weaker may be left over from it
_STEP = 1 / 400  # from one candidate to the next
_MOST = 5
_PARTS, _NEAR, _LIKE = 31, 0.008, 0.9  # of a period that may be several times the true one
_SHORTER = 0.8  # than what is untold
_LEAST_Z = 2.5
_CALENDAR = (DAY, 7 * DAY)


@dataclass(frozen=True)
class PeriodSearch:
    """What was looked for, and what was found.

    Attributes:
        periods: The strongest first; none if there is none.
        shortest: Shortest period looked for, in seconds.
        longest: Longest.
        least: Strength that a day and a week needed to be reported, by their seconds, where they were looked
            for and could be: if there are no pairs between whole days (or weeks), nothing is known of it.
        untold: Something that returns after so many seconds or more: the lift is too short to say after how
            many.
    """

    periods: tuple[Period, ...]
    shortest: float
    longest: float
    least: dict[float, float]
    untold: float | None = None

    @property
    def blind(self) -> tuple[float, ...]:
        """A day and a week, in seconds, where they were looked for and no pairs are there to tell them by."""
        found = [each.seconds for each in self.periods]
        return tuple(
            each
            for each in _CALENDAR
            if self.shortest <= each <= self.longest and each not in self.least and each not in found
        )


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
    whose half (or third, to a 31st: a day of a month) is as strong is several times the true one, which is
    taken instead.

    Contrasts below a twentieth of chance, or a tenth of the strongest, are not reported. Nor is a period that
    may as well be longer than the lift can show: it is untold, and only shorter ones are looked for.

    Args:
        lift: What was counted.
        shortest: Periods in seconds from it on; two bins at least.
        longest: To it; the lift must reach 2.5 times as far, and a little farther to tell the longest.
        level: Chance that any period is found where there is none.
        seed: Of what is drawn.
        report: Told of the searches done and of the most there may be.

    Raises:
        InputError: The lift holds 2.5 cycles of no such period.
    """
    low, high = period_range(float(lift.lags[-1]), lift.width, shortest, longest)
    most = float(lift.lags[-1]) / CYCLES
    if not 0 < low <= high:
        raise InputError(
            f"periods from {duration_text(shortest)} to {duration_text(longest)} in lags up to "
            f"{duration_text(float(lift.lags[-1]))} by {duration_text(lift.width)}: none has two bins and "
            f"{CYCLES:g} cycles; look for others, or take a longer log"
        )
    tried = low * np.exp(np.arange(0.0, np.log(high / low) + 1e-12, _STEP))
    found: list[Period] = []
    least: dict[float, float] = {}
    untold: float | None = None
    for search in range(_MOST):
        report(search, _MOST)
        known = [each.seconds for each in found]
        background, plain = fit_background(lift, known), fit_background(lift, known, trend=False)
        hours = None if DAY in known or not low <= DAY <= high else fit_background(lift, [*known, DAY])
        taken = [(each.seconds, each.half) for each in found]
        scan = scan_periods(background, plain, hours, tried, taken, level, seed)
        least = least or _least(background, scan, low, high)
        best = _strongest(scan, known, untold)
        if best is None:
            break
        one = measure_period(background, scan, best, seed)
        least_of_all = max(LEAST, LEAST_OF_FIRST * found[0].strength if found else 0.0)
        if one.strength < least_of_all or one.shortest > high:
            break
        if one.longest > most:
            untold = min(one.shortest, most)
        else:
            found.append(one)
    report(_MOST, _MOST)
    return PeriodSearch(tuple(found), low, high, least, untold)


def _least(background: Background, scan: Scan, low: float, high: float) -> dict[float, float]:
    """Strengths that a day and a week need to be told from chance and to be reported."""
    periods = np.array([each for each in _CALENDAR if low <= each <= high])
    if not len(periods):
        return {}
    combs = lay_combs(background, periods, periods * SHARPNESS[1])
    parts, weight = combs.mean()
    size = scan.critical * np.sqrt((parts**2).sum(axis=1))
    known = combs.judged & (weight > 0)
    return {
        each: max(needed, LEAST)
        for each, needed in zip(periods[known].tolist(), size[known].tolist(), strict=True)
    }


def _strongest(scan: Scan, known: list[float], untold: float | None) -> int | None:
    """The comb with the best score among those that are shown, or the one that it is a multiple of.

    None as long as what is untold, or near it: that would be a shoulder of it.
    """
    shown = scan.shown & (scan.contrast >= LEAST)
    if untold is not None:
        shown &= scan.periods < _SHORTER * untold
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
