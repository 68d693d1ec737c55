"""Coarse times: all on whole days, hours or minutes."""

from rota.data.doctor.check import Check
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey

__all__ = ["CoarseTimes"]


class CoarseTimes(Check):
    """A clock that shows no hours cannot teach a routine of the day."""

    def look(self, survey: Survey) -> Finding | None:
        """A warning for days and hours, a note for minutes."""
        grid = survey.resolution
        if survey.first == survey.last or grid not in _BREAKS:
            return None
        all_of_them = survey.on_grid[grid] == survey.events
        return self.found(
            Severity.NOTE if grid == "minute" else Severity.WARNING,
            survey.events,
            survey.events,
            message=f"{'All' if all_of_them else 'At least 99 % of'} times are whole {grid}s"
            f"{', or lie at one time of the day' if grid == 'day' and not all_of_them else ''}.",
            breaks=_BREAKS[grid],
            remedy=_REMEDY[grid],
            options=("--ties unordered",),
        )


_BREAKS = {
    "day": "There is no hour to learn: a profile with a period of 24 h sees one phase only, and all that a "
    "user did in a day is one tie.",
    "hour": "Profiles narrower than an hour see nothing, and what a user did within an hour is one tie.",
    "minute": "Gaps under a minute are zero, and quick events become ties.",
}
_REMEDY = {
    "day": "Look for a column with the time of day; else use periods of a week and more, and read the events "
    "of a day as a set.",
    "hour": "Look for a finer column; else choose widths of an hour and more, and read ties as sets.",
    "minute": "Nothing to do, unless ties are frequent: then read them as sets.",
}
