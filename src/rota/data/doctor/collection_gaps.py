"""Collection gaps: days on which nothing was recorded."""

from rota.data.doctor._wording import counted
from rota.data.doctor.check import Check
from rota.data.doctor.counts import Counts
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.silences import Silence, unexplained_silences
from rota.data.doctor.survey import Survey

__all__ = ["CollectionGaps"]


class CollectionGaps(Check):
    """An outage, a lost file, a shop that closed. Days that are always empty, such as Sundays, are custom."""

    def look(self, survey: Survey) -> Finding | None:
        """A warning where days are empty that the weeks around them let nobody expect so."""
        daily = survey.daily
        if daily is None:
            return None
        found = unexplained_silences(daily)
        if not found:
            return None
        longest, empty = found[0], sum(silence.days for silence in found)
        days = int(daily.values[-1] - daily.values[0]) + 1
        others = f"; {len(found) - 1:,} more like it" if len(found) > 1 else ""
        return self.found(
            Severity.WARNING,
            empty,
            days,
            message=f"{counted(empty, 'day')} of {days:,} without any event, where the weeks around promise "
            f"some. The longest: {counted(longest.days, 'day')} from {survey.day(longest.start)}, about "
            f"{longest.expected:,.0f} events missing{others}.",
            breaks="A gap in the record looks like a pause of every user at once: recency is misread, and a "
            "temporal split at it tests on another world.",
            remedy="Find out what happened; keep to one side of a long gap.",
            options=_larger_side(survey, daily, longest),
        )


def _larger_side(survey: Survey, daily: Counts, gap: Silence) -> tuple[str, ...]:
    """The option that keeps the side of a gap with more events."""
    if not survey.datable:
        return ()
    before = int(daily.times[daily.values < gap.start].sum())
    if 2 * before > survey.events:
        return (f"--until {survey.day(gap.start)}",)
    return (f"--since {survey.day(gap.start + gap.days)}",)
