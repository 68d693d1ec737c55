"""Dominant user: one who has a tenth of the log."""

from rota.data.doctor._wording import counted, percent, shortened
from rota.data.doctor.check import Check
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey

__all__ = ["DominantUser"]

_TENTH, _TIMES = 0.1, 5  # share of the log, and how many times that of the mean user


class DominantUser(Check):
    """A robot, a shared account, or the id that stands for nobody."""

    def look(self, survey: Survey) -> Finding | None:
        """A warning where the busiest user has a tenth of all events, and far more than the mean user."""
        most = survey.per_user.quantile(100)
        if most < _TENTH * survey.events or most * survey.users < _TIMES * survey.events:
            return None
        cap = max(survey.per_user.quantile(99), 1)
        return self.found(
            Severity.WARNING,
            most,
            survey.events,
            message=f"User {shortened(survey.busiest)!r} has {counted(most, 'event')}, "
            f"{percent(most, survey.events)} of the log; 99 % of users have at most {cap:,}.",
            breaks="What is learnt of time and of popularity is largely this one user's, while the mean over "
            "users counts that user once.",
            remedy="Find out who it is; cap the events of a user, or leave this one out.",
            options=(f"--user-cap {cap}",),
        )
