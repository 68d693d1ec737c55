"""Measuring: the law of a log's routines, from training events alone, for the arms that ask for it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rota.analysis.foresight import Hindsight, fastest_of_use, slowed
from rota.analysis.law_fit import LawFit, fit_law
from rota.analysis.lift import Lift, measure_lift
from rota.analysis.periods import CYCLES, LONGEST, period_range, search_periods
from rota.analysis.rhythm import judge_rhythm
from rota.analysis.scanning import DAY
from rota.errors import InputError
from rota.histories import Histories, Spans, flat_rows
from rota.recipes.enough import grid_of, naming, require_return, require_users
from rota.recipes.plan import Plan
from rota.recipes.question import Question
from rota.types import Int64Array
from rota.units import ticks_per_second

__all__ = ["measure_law"]

_BIN = 900.0  # s: harmonics of a day up to the 48th
_NEAR = 28 * 86_400.0  # s: what is fitted, or as many cycles of the longest period as are searched for it
_FEWEST_BINS = 28  # that are fitted, where the log's clock has no hours
_MOST_PAIRS = 100_000_000
Report = Callable[[int, int], None]


def _silent(_done: int, _total: int) -> None:
    """Tell no one."""


def measured(plan: Plan, question: Question) -> tuple[Plan, Question]:
    """Give the arms that ask for it the law of the question's training events; others cost nothing.

    Raises:
        InputError: No law can be measured, or what was measured does not fit the log's clock.
    """
    if not plan.asks_for_law:
        return plan, question
    with naming(f"{question.log.name}: no law for the measured arms"):
        found = measure_law(
            question.histories, question.stages.train, instants=question.log.times,
            dated=question.log.about.known_epoch,
        )  # fmt: skip
    told = replace(plan, law=found.kernel)
    told.require_fit(question.log.unit)
    return told, replace(question, law=found)


def measure_law(
    histories: Histories,
    spans: Spans | None = None,
    *,
    instants: Int64Array | None = None,
    dated: bool = True,
    report: Report = _silent,
) -> LawFit:
    """Law of the routines of some users, on the clock that models see: the wall clock where it is known.

    Periods from two hours to 90 days are looked for, as `rota routines` does, and the law has those that
    count in its verdict. It is fitted to lags up to four weeks, or to 2.5 cycles of the longest period.
    Harmonics that are too fast to say what a user does next are left out, see `fastest_of_use`.

    Args:
        histories: What users did.
        spans: Events of them that may be looked at: those of training. By default all.
        instants: When they were, in ticks, where the clock of the histories is another: dates that were
            written as instants are a grid of a day there alone, see `grid_of`. Shape ``(events,)``.
        dated: Whether it is known what the times count from.
        report: Told of pairs counted and of all.

    Raises:
        InputError: There are under 20 users with two events, nobody has any item twice, all events are at one
            time, or there are too few pairs.
    """
    offsets, times, items = _events(histories, spans)
    require_users(offsets)
    span = (
        float(int(times.max()) - int(times.min())) / ticks_per_second(histories.unit) if len(times) else 0.0
    )
    if not span:
        raise InputError("all events are at one time: a law needs lags")
    told = times if instants is None else _of_spans(instants, spans)
    grid = grid_of(told, times, histories.unit, dated=dated)
    width = max(_BIN, grid.seconds)
    lift = measure_lift(
        offsets, times, items, unit=histories.unit, width=width,
        longest=max(min(CYCLES * LONGEST + width, span), width), most_pairs=_MOST_PAIRS, report=report,
    )  # fmt: skip
    require_return(lift, "item", "take a column with a category for the item")
    periods, untold = _periods(lift)
    near = max(_NEAR, _FEWEST_BINS * width, CYCLES * max(periods, default=0.0))
    fitted = fit_law(_first(lift, int(near / width)), periods, resolution=grid.seconds)
    found = replace(fitted, untold=untold, at_midnight=grid.at_midnight)
    return _of_use(found, Hindsight.of(offsets, times, items, histories.unit))


def _of_use(found: LawFit, hindsight: Hindsight) -> LawFit:
    """The law without harmonics that are too fast to foresee anything by."""
    kernel, left, dropped = slowed(found.kernel, fastest_of_use(found.kernel, hindsight))
    if not dropped:
        return found
    return replace(found, kernel=kernel, peak=found.peak * left, too_fast=dropped, whole=found)


def _events(histories: Histories, spans: Spans | None) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Offsets, times and items of what may be looked at, each user's together."""
    if spans is None:
        return histories.offsets, histories.times, histories.items
    offsets = np.concatenate([[0], np.cumsum(spans.stops - spans.starts)]).astype(np.int64)
    return offsets, _of_spans(histories.times, spans), _of_spans(histories.items, spans)


def _of_spans(values: Int64Array, spans: Spans | None) -> Int64Array:
    return values if spans is None else np.asarray(values[flat_rows(spans.starts, spans.stops)])


def _periods(lift: Lift) -> tuple[list[float], float | None]:
    """Periods in whole seconds, which are whole ticks of every clock, and from where on none can be told."""
    longest = float(lift.lags[-1])
    low, high = period_range(longest, lift.width)
    if not 0 < low <= high:
        return [], longest / CYCLES
    search = search_periods(lift)
    _, found, _ = judge_rhythm(search.periods, None)
    untold = search.untold if high >= DAY else high
    return [float(round(each.seconds)) for each in found], untold


def _first(lift: Lift, bins: int) -> Lift:
    """The first bins of a lift, or all that there are."""
    counts = {name: getattr(lift, name)[:, :bins] for name in ("same", "pairs", "expected")}
    return replace(lift, lags=lift.lags[:bins], **counts)
