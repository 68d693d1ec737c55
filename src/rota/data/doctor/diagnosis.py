"""Diagnosis: what is known of a log, and what is wrong with it."""

from dataclasses import dataclass

from rota.data.doctor.finding import Finding, Severity
from rota.data.events import Ties
from rota.units import Unit

__all__ = ["Diagnosis", "Quantiles"]


@dataclass(frozen=True)
class Quantiles:
    """How a number is spread.

    Attributes:
        quantiles: Pairs of a percentage and the least value that so many do not exceed.
        bars: Pairs of a range, in words, and how many lie in it.
    """

    quantiles: tuple[tuple[int, float], ...]
    bars: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Diagnosis:
    """The doctor's report; every figure of it is in its JSON.

    Attributes:
        name: The log.
        now: Day of the examination, in ISO format.
        rows: Rows of the source.
        dropped: Rows without a user or an item.
        skipped: Rows that could not be read.
        events: Events examined.
        users: Their users.
        items: Their items.
        unit: Unit of the times.
        unit_stated: It was stated or is part of the column's type; otherwise inferred.
        absolute: Times count from 1970 in UTC; otherwise they are readings of a wall clock.
        known_epoch: False where times count from an unknown zero.
        zone: Time zone of the users, ``"by row"``, or ``None``.
        ties_rule: What orders a user's events of one instant.
        first: Earliest time, in ticks.
        last: Latest time, in ticks.
        start: The earliest time as a date; ``None`` where the epoch is not known.
        end: The latest, likewise.
        span_days: From the one to the other.
        resolution: The coarsest of day, hour, minute and second that 99 % of times are rounded to.
        ties: Neighbouring events of a user at equal times.
        neighbours: Neighbouring events of a user.
        repeated: Events that equal another one in user, item and time.
        events_per_user: How many events users have.
        gaps: Seconds between neighbouring events of a user, ties left out, to two digits.
        hours_utc: Events in the 168 hours of the week from Monday 00:00 UTC; ``None`` where it is not known.
        hours_local: The same on the users' clocks; ``None`` where their zone is not known.
        daily_start: First day of ``daily``, in ISO format; ``None`` where the epoch is not known.
        daily: Events of every day of the span, on the users' clocks where they are known; empty where times
            make no calendar.
        silences: Days without any event that chance does not explain, the longest first: pairs of an index of
            ``daily`` and how many.
        findings: What is wrong, the worst first.
    """

    name: str
    now: str
    rows: int
    dropped: int
    skipped: int
    events: int
    users: int
    items: int
    unit: Unit
    unit_stated: bool
    absolute: bool
    known_epoch: bool
    zone: str | None
    ties_rule: Ties
    first: int
    last: int
    start: str | None
    end: str | None
    span_days: float
    resolution: str | None
    ties: int
    neighbours: int
    repeated: int
    events_per_user: Quantiles
    gaps: Quantiles
    hours_utc: tuple[int, ...] | None
    hours_local: tuple[int, ...] | None
    daily_start: str | None
    daily: tuple[int, ...]
    silences: tuple[tuple[int, int], ...]
    findings: tuple[Finding, ...]

    @property
    def stops(self) -> bool:
        """Something is so wrong that `prepare` refuses the log."""
        return any(finding.severity == Severity.ERROR for finding in self.findings)
