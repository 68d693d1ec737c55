"""Single events: users who came once."""

from rota.data.doctor._wording import counted, percent
from rota.data.doctor.check import Check
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey

__all__ = ["SingleEvents"]

_OFTEN = 0.01


class SingleEvents(Check):
    """One event has no past to predict it from, and none after it to predict."""

    def look(self, survey: Survey) -> Finding | None:
        """A warning from one user in a hundred on, a note below."""
        once = survey.per_user.of(1)
        if not once:
            return None
        often = once >= _OFTEN * survey.users
        return self.found(
            Severity.WARNING if often else Severity.NOTE,
            once,
            survey.users,
            message=f"{counted(once, 'user')} ({percent(once, survey.users)}) "
            f"{'has' if once == 1 else 'have'} one event.",
            breaks="Without an event before the target nothing can be predicted but popularity. Kept, they "
            "dilute every metric; left out later, they change its denominator from one study to the next.",
            remedy="Require some events of every user, here and now, so that it is written down.",
            options=("--min-events 3", "--k-core 5"),
        )
