"""Repeated rows: the same user, item and time more than once."""

from rota.data.doctor._wording import counted, percent
from rota.data.doctor.check import Check
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey

__all__ = ["RepeatedRows"]

_OFTEN = 0.01


class RepeatedRows(Check):
    """Joins that multiply, imports done twice, or quantities written as rows."""

    def look(self, survey: Survey) -> Finding | None:
        """A warning from one in a hundred on, a note below."""
        if not survey.repeated:
            return None
        often = survey.repeated >= _OFTEN * survey.events
        return self.found(
            Severity.WARNING if often else Severity.NOTE,
            survey.repeated,
            survey.events,
            message=f"{counted(survey.repeated, 'event')} ({percent(survey.repeated, survey.events)}) "
            "repeat another of the same user, item and time.",
            breaks="A target whose twin stands in the history is a gift: repeating the last item looks like "
            "skill, and popularity counts what happened once several times.",
            remedy="Keep one of each.",
            options=("--collapse-duplicates",),
        )
