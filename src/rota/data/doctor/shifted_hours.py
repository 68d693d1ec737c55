"""Shifted hours: no zone is known, and people seem to sleep by day."""

import numpy as np

from rota.data.doctor.check import Check
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey

__all__ = ["ShiftedHours"]

_NIGHT = 6  # hours of the quietest stretch
_ASLEEP = 4  # o'clock: its middle, where people live
_QUIET = 0.4  # of an even share: less is a night
_FAR = 5  # hours that may be a habit


class ShiftedHours(Check):
    """Log times in UTC shift every habit by the distance from Greenwich, and by an hour in summer."""

    def look(self, survey: Survey) -> Finding | None:
        """A note where the quietest six hours lie far from where people sleep."""
        if not survey.datable or survey.clock is None or survey.log.zone is not None:
            return None
        if survey.log.absolute and survey.wall is not None:
            return None
        hours = np.asarray(survey.clock.of_week()).reshape(7, 24).sum(axis=0)
        stretch = np.array([np.roll(hours, -start)[:_NIGHT].sum() for start in range(24)])
        middle = (int(stretch.argmin()) + _NIGHT // 2) % 24
        quiet = int(stretch.min())
        shift = (middle - _ASLEEP + 12) % 24 - 12
        if quiet > _QUIET * _NIGHT / 24 * survey.events or abs(shift) < _FAR:
            return None
        start, end = (middle - _NIGHT // 2) % 24, (middle + _NIGHT // 2) % 24
        return self.found(
            Severity.NOTE,
            quiet,
            survey.events,
            message=f"No zone is known, and the quietest hours are {start:02d}:00 to {end:02d}:00: as if the "
            f"users lived about {abs(shift)} hours {'west' if shift > 0 else 'east'} of the clock.",
            breaks="Hours and weekdays are not the users' own: an evening falls on the next day, and a habit "
            "moves by an hour where summer time begins. A period of 24 h still fits, a weekend does not.",
            remedy="Say where the users live, or name the column that says it.",
            options=("--zone ZONE", "--zone-column COLUMN", "--offset-column COLUMN"),
        )
