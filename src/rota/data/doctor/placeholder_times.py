"""Placeholder times: zeros and times before 1970 among modern ones."""

from rota.data.doctor._wording import counted, percent
from rota.data.doctor.check import ClockCheck
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Totals

__all__ = ["PlaceholderTimes"]

_MODERN = 20 * 365 * 86_400  # s: a log that ends in the seventies or eighties is not judged


class PlaceholderTimes(ClockCheck):
    """A missing time written as 0 or -1 is the oldest event of its user, and nobody notices."""

    def look(self, survey: Totals) -> Finding | None:
        """An error where some times are zero or negative and others are of our days."""
        bad = survey.zeros + survey.negatives
        modern = survey.log.known_epoch and survey.last > _MODERN * survey.second
        if not bad or not modern:
            return None
        parts = [
            f"{counted(number, 'event')} {what}"
            for number, what in ((survey.zeros, "at time 0"), (survey.negatives, "before 1970"))
            if number
        ]
        return self.found(
            Severity.ERROR,
            bad,
            survey.events,
            message=f"{' and '.join(parts)} ({percent(bad, survey.events)}), in a log that ends on "
            f"{survey.date(survey.last)}.",
            breaks="Such times stand for missing ones. Each becomes its user's first event, decades before "
            "the second, and stretches the span that temporal splits divide.",
            remedy="Leave these events out, from the first true time on.",
            options=(f"--since {survey.date(survey.first_positive)}",),
        )
