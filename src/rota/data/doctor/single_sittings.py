"""Single sittings: users whose whole history lies within a day."""

from rota.data.doctor._wording import counted, percent
from rota.data.doctor.check import Check
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey

__all__ = ["SingleSittings"]

_MANY = 0.5


class SingleSittings(Check):
    """Ratings entered at one go carry the time of typing, not of watching."""

    def look(self, survey: Survey) -> Finding | None:
        """A warning where half the users with three events or more never came back."""
        if not survey.brief_users or survey.brief_users < _MANY * survey.lasting_users:
            return None
        return self.found(
            Severity.WARNING,
            survey.brief_users,
            survey.lasting_users,
            message=f"The whole history of {counted(survey.brief_users, 'user')} lies within 24 hours: "
            f"{percent(survey.brief_users, survey.lasting_users)} of those with three events or more.",
            breaks="The times tell when something was entered, not when it was done. There is no second day, "
            "so no routine of days or weeks to learn, and gaps measure the speed of typing.",
            remedy="Do not read habits out of this log; use it for order only, or keep users with long "
            "histories.",
            options=("--min-events 20",),
        )
