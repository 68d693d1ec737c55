"""Future times: events that have not happened yet."""

from rota.data.doctor._wording import counted, percent
from rota.data.doctor.check import ClockCheck
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Totals

__all__ = ["FutureTimes"]


class FutureTimes(ClockCheck):
    """Clocks that are set wrong, planned events, or a wrong unit. A day is allowed for zones."""

    def look(self, survey: Totals) -> Finding | None:
        """An error where there is any."""
        if not survey.log.known_epoch or not survey.future:
            return None
        return self.found(
            Severity.ERROR,
            survey.future,
            survey.events,
            message=f"{counted(survey.future, 'event')} ({percent(survey.future, survey.events)}) after "
            f"{survey.now.isoformat()}, the last on {survey.date(survey.last)}.",
            breaks="They become the last events of their users and so the targets of the test; a temporal "
            "split puts its boundary among days that have not come.",
            remedy="If nearly all events are, the unit is wrong; else leave them out.",
            options=(f"--until {survey.tomorrow()}", "--unit UNIT"),
        )
