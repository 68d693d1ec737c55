"""Surveying: the counts of a log, by a handful of aggregates that the database computes out of core."""

from datetime import date

import ibis.expr.types as ir

from rota.data.doctor.aggregates import one_row
from rota.data.doctor.hours import LONGEST
from rota.data.doctor.neighbours import count_neighbours
from rota.data.doctor.people import ENOUGH, count_people, habits_of, tied_users
from rota.data.doctor.quarters import count_quarters, crowded_instant
from rota.data.doctor.survey import BRIEF, GRIDS, Survey, Totals
from rota.data.events import Events
from rota.errors import InputError
from rota.units import ticks_per_second

__all__ = ["take_survey", "take_totals"]

_DAY = 86_400
_FURTHEST = 2**62  # ticks between first and last: differences of times must fit int64


def take_survey(log: Events, now: date) -> Survey:
    """Count what the checks ask about. Memory grows with users, items and hours, not with events.

    Args:
        log: Any log.
        now: The day of the examination.

    Raises:
        InputError: It has no event, a zone of it is unknown, or its times lie too far apart for int64.
    """
    totals = take_totals(log, now)
    second, first, last = totals.second, totals.first, totals.last
    people = count_people(log.table)
    habits = habits_of(people, second)
    neighbours = count_neighbours(log.table, people)
    clock, wall = count_quarters(log) if last - first <= LONGEST * second else (None, None)
    crowded, crowd = (0, 0) if clock is None else crowded_instant(log.table, clock, second)
    return Survey(
        log, now, totals.events, first, last, totals.first_positive,
        totals.zeros, totals.negatives, totals.future, totals.on_grid,
        per_user=habits.per_user, busiest=habits.busiest,
        lasting_users=habits.lasting, brief_users=habits.brief,
        **_items(log.table, BRIEF * second),
        gaps=neighbours.gaps, ties=neighbours.ties, repeated=neighbours.repeated,
        backward=neighbours.backward, tied_users=tied_users(log.table, people),
        crowded=crowded, crowd=crowd, clock=clock, wall=wall,
    )  # fmt: skip


def take_totals(log: Events, now: date) -> Totals:
    """What one scan of the times tells. The future begins a day after the end of today, wherever that is.

    Raises:
        InputError: There is no event, or times lie too far apart for int64.
    """
    table, time, second = log.table, log.table.time, ticks_per_second(log.unit)
    future = ((now - date(1970, 1, 1)).days + 2) * _DAY * second
    found = one_row(
        table.agg(
            events=table.count(),
            first=time.min(),
            last=time.max(),
            first_positive=time.min(where=time > 0),
            zeros=(time == 0).sum(),
            negatives=(time < 0).sum(),
            future=(time >= future).sum(),
            **{name: (time % (length * second) == 0).sum() for name, length in GRIDS.items()},
        )
    )
    on_grid = {name: found.pop(name) for name in GRIDS}
    totals = Totals(log, now, **found, on_grid=on_grid)
    if not totals.events:
        raise InputError(f"{log.where}: no event to examine: expected a log of at least one")
    if totals.last - totals.first > _FURTHEST:
        raise InputError(
            f"{log.where}: times from {totals.first} to {totals.last} {log.unit}: too far apart for int64; "
            "check the column and --unit"
        )
    return totals


def _items(table: ir.Table, brief: int) -> dict[str, int]:
    each = table.group_by("item").agg(events=table.count(), first=table.time.min(), last=table.time.max())
    enough = each.events >= ENOUGH
    return one_row(
        each.agg(
            items=each.count(),
            lasting_items=enough.sum(),
            brief_items=(enough & (each.last - each.first <= brief)).sum(),
        )
    )
