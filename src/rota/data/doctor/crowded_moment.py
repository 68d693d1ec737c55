"""Crowded moment: one instant that holds a hundredth of the log."""

from rota.data.doctor._wording import counted, percent
from rota.data.doctor.check import Check
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey

__all__ = ["CrowdedMoment"]

_LEAST = 100  # events: in a small log a hundredth is nothing


class CrowdedMoment(Check):
    """An import in bulk, or a default that is not zero: one time given to what had none."""

    def look(self, survey: Survey) -> Finding | None:
        """A warning, unless times are days, of which each is crowded."""
        if survey.crowd < _LEAST or survey.first == survey.last or survey.resolution in ("day", "hour"):
            return None
        where = f"{survey.crowded} {survey.log.unit}"
        if survey.datable:
            where += f" ({survey.date(survey.crowded)})"
        return self.found(
            Severity.WARNING,
            survey.crowd,
            survey.events,
            message=f"{counted(survey.crowd, 'event')} ({percent(survey.crowd, survey.events)}) share the "
            f"single instant {where}.",
            breaks="Nobody did that: it is an import, or a default for a missing time. The hour that it "
            "falls in looks like a habit, and its order is that of the file.",
            remedy="Look at these rows. If their time is not true, leave them out before preparing; if they "
            "are one act, read them as a set.",
            options=("--ties unordered",),
        )
