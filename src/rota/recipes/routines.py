"""routines: whether what the users of a log do returns, after how long, and what to make of it."""

import csv
import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from rota.analysis.lift import MOST_PAIRS, Lift, measure_lift
from rota.analysis.peaks import peak_half_width
from rota.analysis.period import Period
from rota.analysis.periods import CYCLES, LONGEST, SHORTEST, period_range, search_periods
from rota.analysis.recency import find_recency, octaves_of, recency_is_told
from rota.analysis.rhythm import judge_rhythm
from rota.analysis.routines import Routines
from rota.analysis.scanning import DAY
from rota.data.dataset import is_dataset
from rota.data.log import Log
from rota.data.options import Reading
from rota.errors import InputError
from rota.files import written_whole
from rota.recipes.enough import grid_of, naming, require_return, require_users
from rota.recipes.opening import open_log
from rota.types import Duration, Int64Array
from rota.units import duration_text, seconds, ticks_per_second

__all__ = ["find_routines", "lift_of_log", "routines_of_log", "save_bins", "save_routines"]

_BIN = 900.0  # s: eight to the shortest period
_WIDTHS = (43_200, 21_600, 10_800, 7200, 3600, 1800, 900, 600, 300, 120, 60, 30, 10, 5, 2, 1)  # s
_REMEDY = "look at a category instead: --by COLUMN"
_FARTHER = 1.05  # lags than 2.5 cycles of a period that was asked for, to tell it from a longer one
_NEAR = 2.25  # cycles of the strongest period that are shown from near
_NEAR_BINS = 200  # of one of them, at least
_PEAK_BINS, _MOST_BINS = 4, 20_000  # in which its peak rises and falls; of all cycles shown

Tell = Callable[[str, int, int], None]


def _tell_no_one(_stage: str, _done: int, _total: int) -> None:
    """Do nothing."""


def find_routines(
    source: str,
    reading: Reading,
    *,
    by: str | None = None,
    utc: bool = False,
    shortest: Duration = SHORTEST,
    longest: Duration | None = None,
    most_pairs: int = MOST_PAIRS,
    seed: int = 0,
    tell: Tell = _tell_no_one,
) -> Routines:
    """Open a log or a prepared dataset and look for routines in it; see `routines_of_log`.

    Args:
        source: Folder of a prepared dataset, or what `rota.data.read_log` takes.
        reading: How to understand it; a prepared dataset is understood already.
        by: Column with a category that must be the same, instead of the item. Rows without one are left out.
        utc: As there.
        shortest: As there.
        longest: As there.
        most_pairs: As there.
        seed: As there.
        tell: As there.

    Raises:
        InputError: It cannot be opened, a category is asked of a prepared dataset, or as there.
    """
    if by is not None:
        if is_dataset(source):
            raise InputError(
                f"{source} is a prepared dataset, which keeps items alone: ask --by {by} of the log itself"
            )
        reading = replace(reading, item=by)
    if by == "":
        raise InputError("--by '': expected the name of a column")
    tell("reading", 0, 0)
    try:
        log = open_log(source, reading).log
    except InputError as error:
        if by is None:
            raise
        raise InputError(f"{error} (--by {by} takes the place of the item)") from error
    return routines_of_log(
        log, by="item" if by is None else by, utc=utc, shortest=shortest, longest=longest,
        most_pairs=most_pairs, seed=seed, tell=tell,
    )  # fmt: skip


def routines_of_log(
    log: Log,
    *,
    by: str = "item",
    utc: bool = False,
    shortest: Duration = SHORTEST,
    longest: Duration | None = None,
    most_pairs: int = MOST_PAIRS,
    seed: int = 0,
    tell: Tell = _tell_no_one,
) -> Routines:
    """Measure the lift of a log, look for periods and recency in it, and give the verdict.

    Bins of 15 minutes, or of what the times are rounded to, reach 2.5 times as far as the longest period that
    is looked for. The first cycles of the strongest period are measured again in finer bins.

    Args:
        log: Any.
        by: What its items are called.
        utc: Take lags in time that passed, though the users' wall clock is known; otherwise lags on that
            clock, which summer time does not shift.
        shortest: Period looked for from it on; two bins at least.
        longest: To it: by default to 90 days, or to what the log has 2.5 cycles of.
        most_pairs: Of more pairs, those of a random sample of users are counted.
        seed: Of all that is drawn.
        tell: Told the stage, and how much of it is done.

    Raises:
        InputError: There are under 20 users with two events, nobody has any item twice, the log is too short
            for two and a half cycles of the shortest or of ``longest``, or it has no UTC.
    """
    times = _times(log, utc)
    grid = grid_of(log.times, log.clock, log.unit, dated=log.about.known_epoch)
    resolution = grid.seconds
    span = float(int(times.max()) - int(times.min())) / ticks_per_second(log.unit)
    low, high = _range(
        log.name, resolution, span, seconds(shortest), None if longest is None else seconds(longest)
    )
    measure = partial(lift_of_log, log, utc=utc, most_pairs=most_pairs, seed=seed)
    width = max(_BIN, resolution)
    reach = CYCLES * high * (1.0 if longest is None else _FARTHER) + width
    with naming(log.name):
        require_users(log.offsets)
        lift = measure(width=width, longest=min(span, reach), tell=partial(tell, "counting pairs"))
        require_return(lift, by, _REMEDY if by == "item" else "choose a coarser category")
    search = search_periods(
        lift, shortest=low, longest=high, seed=seed, report=partial(tell, "looking for periods")
    )
    tell("measuring", 0, 0)
    recency = find_recency(lift, [each.seconds for each in search.periods], seed=seed)
    told = search.untold is None and recency_is_told(lift) and span >= CYCLES * DAY
    verdict, periods, faint = judge_rhythm(search.periods, recency, told=told)
    near = lift
    if periods:
        near = _from_near(
            periods[0], resolution, span, partial(measure, tell=partial(tell, "measuring peaks"))
        )
    return Routines(
        name=log.name, by=by, clock=_clock(log, utc), events=len(log), left_out=log.about.dropped,
        span=span, resolution=resolution, verdict=verdict, search=search, periods=periods, faint=faint,
        half_widths=tuple(
            peak_half_width(lift if k else near, each.seconds) for k, each in enumerate(periods)
        ),
        recency=recency, octaves=octaves_of(lift, seed=seed), lift=lift, near=near,
        at_midnight=grid.at_midnight,
    )  # fmt: skip


def lift_of_log(
    log: Log,
    *,
    width: Duration,
    longest: Duration,
    utc: bool = False,
    most_pairs: int = MOST_PAIRS,
    seed: int = 0,
    tell: Callable[[int, int], None] = lambda _done, _total: None,
) -> Lift:
    """`measure_lift` of all events of a log, by the users' wall clock where it is known.

    Args:
        log: Any.
        width: Of a bin.
        longest: Lag.
        utc: Take the times as they passed instead.
        most_pairs: As there.
        seed: As there.
        tell: Told of the pairs counted, and of all.

    Raises:
        InputError: As there; or the log has no UTC.
    """
    return measure_lift(
        log.offsets, _times(log, utc), log.items, unit=log.unit, width=width, longest=longest,
        most_pairs=most_pairs, seed=seed, report=tell,
    )  # fmt: skip


def save_routines(found: Routines, path: str | Path) -> None:
    """Write all figures as JSON.

    Raises:
        InputError: The folder does not exist, or the path is a folder.
    """
    with written_whole(path) as part:
        part.write_text(json.dumps(found.to_json(), indent=2, allow_nan=False) + "\n", encoding="utf-8")


def save_bins(lift: Lift, path: str | Path) -> None:
    """Write a lift as CSV, a line each bin: lag, lift, its 95 % band over users, and the pairs counted.

    The lift is left empty where chance would have given no pair of one item, and the band also where it would
    have given none in a bootstrap sample of users. Fine bins of a peak, `Routines.near`, are not written.

    Raises:
        InputError: The folder does not exist, or the path is a folder.
    """
    low, high = lift.band(0.95)
    counts = (lift.pairs.sum(axis=0), lift.same.sum(axis=0), lift.expected.sum(axis=0))
    columns = (lift.lags / 3600, *counts, lift.value, low, high)
    with written_whole(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("lag_hours", "pairs", "same", "same_by_chance", "lift", "lo", "hi"))
        for row in zip(*(column.tolist() for column in columns), strict=True):
            rows.writerow("" if math.isnan(value) else value for value in row)


def _times(log: Log, utc: bool) -> Int64Array:
    if utc and not log.about.absolute:
        raise InputError(
            f"{log.name}: its times are readings of a wall clock, so no UTC is known: leave --utc out"
        )
    return log.times if utc else log.clock


def _clock(log: Log, utc: bool) -> str:
    if utc:
        return "utc"
    return "as given" if log.local is None and log.zone is None else "local"


def _range(
    name: str, resolution: float, span: float, shortest: float, longest: float | None
) -> tuple[float, float]:
    """Shortest and longest period to look for, in seconds."""
    if longest is not None and shortest > longest:
        raise InputError(
            f"{name}: periods from {duration_text(shortest)} to {duration_text(longest)}: the shortest is "
            "above the longest; exchange them"
        )
    reach = CYCLES * LONGEST if longest is None else CYCLES * longest
    low, high = period_range(min(span, reach), max(_BIN, resolution), shortest, longest or LONGEST)
    most = duration_text(_below(span / CYCLES))
    if longest is not None and high < longest:
        raise InputError(
            f"{name}: periods up to {duration_text(longest)} in {_days(span)}: {CYCLES:g} cycles are "
            f"needed to see one; give --longest {most} or less, or a longer log"
        )
    if not 0 < low <= high:
        raise InputError(
            f"{name}: it spans {_days(span)} by {duration_text(resolution)}: too short to see a period of "
            f"{duration_text(low)} or more, of which {CYCLES:g} cycles are needed"
        )
    return low, high


def _below(seconds: float) -> float:
    """The next length below that is round to people: whole days, hours, minutes, or seconds."""
    step = next((each for each in (86_400.0, 3600.0, 60.0) if seconds >= 10 * each), 1.0)
    return step * math.floor(seconds / step)


def _days(span: float) -> str:
    return f"{span / 86_400:,.3g} days"


def _from_near(period: Period, resolution: float, span: float, measure: Callable[..., Lift]) -> Lift:
    """The first cycles of a period, in bins so fine that they show how wide its peak is.

    Bins become finer until a few of them lie within the peak, or they are as fine as the log's clock.
    """
    longest = min(_NEAR * period.seconds, span)
    fine = [float(width) for width in _WIDTHS if width <= period.seconds / _NEAR_BINS] or [1.0]
    for width in (max(each, resolution) for each in fine if longest / each <= _MOST_BINS):
        lift = measure(width=width, longest=longest)
        if width == resolution or 2 * peak_half_width(lift, period.seconds) >= _PEAK_BINS * width:
            break
    return lift
