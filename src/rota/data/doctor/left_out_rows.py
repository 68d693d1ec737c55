"""Left out rows: those without a user or an item, and those that could not be read."""

from rota.data.doctor._wording import counted, percent
from rota.data.doctor.check import Check
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey

__all__ = ["LeftOutRows"]

_OFTEN = 0.01


class LeftOutRows(Check):
    """What never became an event."""

    def look(self, survey: Survey) -> Finding | None:
        """A warning from one row in a hundred on, a note below."""
        dropped, skipped = survey.log.dropped, survey.log.skipped
        lost, rows = dropped + skipped, max(survey.log.rows, survey.events + dropped) + skipped
        if not lost:
            return None
        parts = [
            f"{counted(number, 'row')} {what}"
            for number, what in ((dropped, "without a user or an item"), (skipped, "that could not be read"))
            if number
        ]
        return self.found(
            Severity.WARNING if lost >= _OFTEN * rows else Severity.NOTE,
            lost,
            rows,
            message=f"{' and '.join(parts)} left out ({percent(lost, rows)}).",
            breaks="They are rarely lost at random: events of users who were not signed in, or of one client "
            "that writes what others do not.",
            remedy="Look at some of them. Rows that cannot be read stop `prepare`, unless told otherwise.",
            options=("--on-error skip",) if skipped else (),
        )
