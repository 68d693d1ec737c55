"""Constant time: every event at one instant."""

from rota.data.doctor._wording import counted
from rota.data.doctor.check import ClockCheck
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Totals

__all__ = ["ConstantTime"]


class ConstantTime(ClockCheck):
    """The column of times holds one value: most likely a default, or the day of an export."""

    def look(self, survey: Totals) -> Finding | None:
        """An error where two events or more share the only time there is."""
        if survey.events < 2 or survey.first != survey.last:
            return None
        return self.found(
            Severity.ERROR,
            survey.events,
            survey.events,
            message=f"All {counted(survey.events, 'event')} have the time {survey.first}.",
            breaks="There is no order to learn and no clock to read: each split, and each encoding of time, "
            "works on a constant.",
            remedy="Name the column that holds the time of the event, not that of an export.",
            options=("--time COLUMN",),
        )
