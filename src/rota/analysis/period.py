"""Period: what is known of one that was found, its length, its strength and how sure they are."""

from dataclasses import dataclass

import numpy as np

from rota.analysis.background import Background
from rota.analysis.combs import MULTIPLES, lay_combs
from rota.analysis.lift import resample_weights
from rota.analysis.narrowness import half_gaps
from rota.analysis.scanning import Scan, every_sharpness, rate
from rota.analysis.windows import window_bins
from rota.types import Float64Array

__all__: list[str] = ["Period"]

_FINE, _AROUND, _TEETH = 1 / 4000, 0.05, 24  # of the candidates around one that was found
_SAME = 0.97  # of the greatest score: periods that cannot be told apart
_ROUND = (604_800, 86_400, 43_200, 21_600, 3600, 1800, 900)
_HOURS, _THEN, _SHORT = 7200.0, (360, 36), (300, 60)  # from two hours on in hours of two decimals
_RESAMPLES = 2000


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


def measure_period(background: Background, scan: Scan, best: int, seed: int) -> Period:
    """The period of a comb more exactly than candidates lie, by more teeth than they were found by.

    All candidates around it have as many teeth, with whole gaps after them: one that has a tooth more, as it
    is shorter and the lift ends, would seem to explain more.

    Args:
        background: What was scanned.
        scan: Its combs.
        best: Which of them.
        seed: Of the bootstrap.
    """
    coarse, reach = float(scan.periods[best]), float(background.lift.lags[-1])
    fine = coarse * np.exp(np.arange(-_AROUND, _AROUND, _FINE))
    teeth = max(min(_TEETH, int(reach / fine[-1] - 0.75)), 1)
    periods, halves = every_sharpness(fine)
    combs = lay_combs(background, periods, halves, teeth)
    score = np.where(combs.judged, rate(combs)[2], -np.inf)
    top = int(np.argmax(score))
    alike = periods[score >= _SAME * score[top]]
    slack = halves[top] / teeth / 2  # the last tooth still meets its peak
    low = min(float(alike.min()), float(periods[top] - slack))
    high = max(float(alike.max()), float(periods[top] + slack))
    period, half = _roundest(float(periods[top]), low, high), float(halves[top])
    strength, lo, hi = _strength(background, period, half, seed)
    return Period(period, low, high, strength, lo, hi, half, float(scan.z[best]), scan.critical)


def _roundest(period: float, low: float, high: float) -> float:
    """Whole weeks, days, half days and so on down to a hundredth of an hour, if one of them lies between."""
    steps = (*_ROUND, *(_THEN if period >= _HOURS else _SHORT))
    near = (float(round(period / step) * step) for step in steps)
    return next((each for each in near if each > 0 and low <= each <= high), period)


def _strength(background: Background, period: float, half: float, seed: int) -> tuple[float, float, float]:
    """Contrast of the first teeth with its interval: a group counts by how far it is from the others.

    All are 0 where there are no pairs to judge it by.
    """
    combs = lay_combs(background, np.array([period]), np.array([half]))
    weight = float(combs.weights[0].sum())
    if not (combs.judged[0] and weight > 0):
        return 0.0, 0.0, 0.0
    shares = combs.weights[0] / weight
    step = np.arange(MULTIPLES + 1, dtype=np.float64)
    teeth = _beyond_mean(background, period * step[1:], half)
    gap = half_gaps(background, np.array([period]), np.array([half]))
    gaps = _beyond_mean(background, period * (step + 0.5), float(gap[0]))
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
