"""Examining: a log is surveyed once, and every check of this room looks at the survey."""

from datetime import date
from itertools import pairwise

import numpy as np

from rota.data.doctor.check import Check, ClockCheck
from rota.data.doctor.counts import Counts
from rota.data.doctor.diagnosis import Diagnosis, Quantiles
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.silences import unexplained_silences
from rota.data.doctor.survey import Survey
from rota.data.doctor.surveying import take_survey, take_totals
from rota.data.events import OFFSET, ZONE, Events
from rota.errors import InputError
from rota.rooms import find, offers

__all__ = ["examine", "look_for_all", "require_sound"]

_ROOM = "data.doctor"
_PERCENT = (0, 10, 25, 50, 75, 90, 99, 100)
_GAPS = {
    "under 1 min": 0, "1 to 10 min": 60, "10 to 60 min": 600, "1 to 6 h": 3600, "6 to 24 h": 21_600,
    "1 to 7 days": 86_400, "7 to 30 days": 604_800, "30 to 365 days": 2_592_000, "over 365 days": 31_536_000,
}  # fmt: skip
_EVENTS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


def examine(log: Events, now: date) -> Diagnosis:
    """Say what is known of a log and what is wrong with it.

    Args:
        log: Any log.
        now: The day of the examination. Whatever is a day later or more is in the future.

    Raises:
        InputError: It has no event, a zone of it is unknown, or its times lie too far apart for int64.
    """
    survey = take_survey(log, now)
    days = survey.daily
    daily = () if days is None else _every_day(days)
    first_day = None if days is None or not log.known_epoch else survey.day(int(days.values[0]))
    silent = (
        ()
        if days is None
        else tuple((each.start - int(days.values[0]), each.days) for each in unexplained_silences(days))
    )
    by_row = {ZONE, OFFSET} & set(log.table.columns)
    utc = survey.clock if log.absolute and survey.datable else None
    wall = survey.wall if survey.datable else None
    return Diagnosis(
        name=log.name, now=now.isoformat(),
        rows=max(log.rows, survey.events), dropped=log.dropped, skipped=log.skipped,
        events=survey.events, users=survey.users, items=survey.items,
        unit=log.unit, unit_stated=log.unit_stated, absolute=log.absolute, known_epoch=log.known_epoch,
        zone="by row" if by_row else log.zone, ties_rule=log.ties,
        first=survey.first, last=survey.last,
        start=_instant(survey, survey.first), end=_instant(survey, survey.last),
        span_days=round(survey.span / 86_400, 6), resolution=survey.resolution,
        ties=survey.ties, neighbours=survey.neighbours, repeated=survey.repeated,
        events_per_user=_events_per_user(survey.per_user), gaps=_gaps(survey.gaps, survey.second),
        hours_utc=None if utc is None else utc.of_week(),
        hours_local=None if wall is None else wall.of_week(),
        daily_start=first_day, daily=daily,
        silences=silent,
        findings=look_for_all(survey),
    )  # fmt: skip


def look_for_all(survey: Survey) -> tuple[Finding, ...]:
    """What the checks of this room find, errors first, then by how much is touched."""
    kind: type[Check] = Check  # type: ignore[type-abstract]
    looked = [find(_ROOM, name, kind)().look(survey) for name in offers(_ROOM, kind)]
    found = [finding for finding in looked if finding is not None]
    rank = list(Severity)
    return tuple(sorted(found, key=lambda each: (rank.index(each.severity), -each.share, each.code)))


def require_sound(log: Events, now: date) -> None:
    """Refuse a log that nothing can be learnt from; one scan of its times.

    Args:
        log: Any log.
        now: The day of the examination.

    Raises:
        InputError: A check of the clock found an error; or what `take_totals` raises.
    """
    totals = take_totals(log, now)
    kind: type[ClockCheck] = ClockCheck  # type: ignore[type-abstract]
    for name in offers(_ROOM, kind):
        found = find(_ROOM, name, kind)().look(totals)
        if found is not None:
            options = ", ".join(found.options)
            raise InputError(f"{log.where}: {found.message} {found.breaks} {found.remedy} ({options})")


def _every_day(days: Counts) -> tuple[int, ...]:
    """Events of every day between the first and the last."""
    first, last = int(days.values[0]), int(days.values[-1])
    dense = np.zeros(last - first + 1, dtype=np.int64)
    dense[days.values - first] = days.times
    return tuple(int(each) for each in dense)


def _instant(survey: Survey, ticks: int) -> str | None:
    return str(np.datetime64(ticks, survey.log.unit)) if survey.log.known_epoch else None


def _events_per_user(counts: Counts) -> Quantiles:
    most = counts.quantile(100)
    edges = [*(edge for edge in _EVENTS if edge <= most), most + 1]
    labels = [f"{low:,}" if high - low == 1 else f"{low:,} to {high - 1:,}" for low, high in pairwise(edges)]
    if most >= _EVENTS[-1]:
        labels[-1] = f"{_EVENTS[-1]:,} and more"
    quantiles = tuple((percent, float(counts.quantile(percent))) for percent in _PERCENT)
    return Quantiles(quantiles, tuple(zip(labels, counts.between(edges), strict=True)))


def _gaps(counts: Counts, second: int) -> Quantiles:
    edges = [*(edge * second for edge in _GAPS.values()), 2**63 - 1]
    quantiles = [(percent, counts.quantile(percent) / second) for percent in _PERCENT]
    bars = tuple(zip(_GAPS, counts.between(edges), strict=True))
    return Quantiles(tuple(quantiles) if counts.total else (), bars)
