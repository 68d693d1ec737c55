"""Survey: what is counted of a log, once, for all checks."""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from rota.data.doctor.counts import Counts
from rota.data.doctor.hours import LONGEST, Hours
from rota.data.events import Events
from rota.units import ticks_per_second

__all__ = ["Survey", "Totals"]

GRIDS = {"day": 86_400, "hour": 3600, "minute": 60, "second": 1}
"""Lengths, in seconds, that times may be rounded to, the coarsest first."""

BRIEF = 3600  # s: an item that lives no longer
_ROUNDED = 0.99  # share of times on a grid from which the log counts as rounded to it


@dataclass(frozen=True, eq=False)
class Totals:
    """What one scan of the times tells: enough to refuse a log by. Times are in ticks of the log's unit.

    Attributes:
        log: What was counted.
        now: The day of the examination: what is later has not happened yet.
        events: How many.
        first: Earliest time.
        last: Latest time.
        first_positive: Earliest time above zero; 0 where there is none.
        zeros: Events at time zero.
        negatives: Events before it.
        future: Events more than a day after the day of the examination.
        on_grid: Events at whole days, hours, minutes and seconds, by name.
    """

    log: Events
    now: date
    events: int
    first: int
    last: int
    first_positive: int
    zeros: int
    negatives: int
    future: int
    on_grid: dict[str, int]

    @property
    def second(self) -> int:
        """Ticks in a second."""
        return ticks_per_second(self.log.unit)

    @property
    def span(self) -> float:
        """From the first to the last event, in seconds."""
        return (self.last - self.first) / self.second

    @property
    def too_long(self) -> bool:
        """The span exceeds what any log has."""
        return self.span > LONGEST

    def date(self, ticks: int) -> str:
        """Day of a time, in ISO format."""
        return self.day(ticks // (86_400 * self.second))

    def day(self, day: int) -> str:
        """A day counted from 1970, in ISO format; from an unknown zero, its number."""
        if not self.log.known_epoch:
            return f"day {day:,}"
        return str(np.datetime64(day, "D"))

    def tomorrow(self) -> str:
        """The day from which on nothing can have happened."""
        return (self.now + timedelta(days=1)).isoformat()


@dataclass(frozen=True, eq=False)
class Survey(Totals):
    """All counts of a log. Gaps are in ticks of its unit.

    Attributes:
        per_user: Users by number of events.
        busiest: Id of the user with most events.
        lasting_users: Users with at least three events.
        brief_users: Those of them whose events lie within 24 hours.
        items: How many items.
        lasting_items: Items with at least three events.
        brief_items: Those of them whose events lie within one hour.
        gaps: Gaps above zero between neighbouring events of a user, to two digits.
        ties: Neighbouring events of a user at equal times.
        repeated: Events that equal another one in user, item and time, beyond the first.
        backward: Neighbouring events of a user whose rows stand in the other order than their times.
        tied_users: Users whose last instant holds several items.
        crowded: The instant that most events share, if one in a hundred does.
        crowd: Events in it; else 0.
        clock: Events by quarter of an hour as the times say; ``None`` where the span exceeds any calendar.
        wall: The same on the users' clocks; ``None`` where their zone is not known.
    """

    per_user: Counts
    busiest: str
    lasting_users: int
    brief_users: int
    items: int
    lasting_items: int
    brief_items: int
    gaps: Counts
    ties: int
    repeated: int
    backward: int
    tied_users: int
    crowded: int
    crowd: int
    clock: Hours | None
    wall: Hours | None

    @property
    def users(self) -> int:
        """How many users."""
        return self.per_user.total

    @property
    def neighbours(self) -> int:
        """Pairs of neighbouring events of one user."""
        return self.events - self.users

    @property
    def resolution(self) -> str | None:
        """The coarsest grid that nearly all times lie on: a key of ``GRIDS``; ``None`` if none.

        Dates written as instants of a zone lie on no midnight of UTC, but at one time of day.
        """
        hours = [each for each in (self.clock, self.wall) if each is not None]
        daily = max((each.at_one_time_of_day() for each in hours), default=0)
        on_grid = {**self.on_grid, "day": max(self.on_grid["day"], daily)}
        return next((name for name in GRIDS if on_grid[name] >= _ROUNDED * self.events), None)

    @property
    def datable(self) -> bool:
        """Times are dates of this or of neighbouring centuries."""
        early, late = (instant / self.second for instant in (self.first, self.last))
        return self.log.known_epoch and not self.too_long and early > -LONGEST and late < LONGEST

    @property
    def daily(self) -> Counts | None:
        """Events of each day, on the users' clocks where known; ``None`` where there is no calendar."""
        hours = self.wall if self.wall is not None else self.clock
        return None if hours is None else hours.daily()
