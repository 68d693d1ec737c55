"""Unsorted rows: a user's rows that do not stand in the order of their times."""

from rota.data.doctor._wording import percent
from rota.data.doctor.check import Check
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey
from rota.data.events import Ties

__all__ = ["UnsortedRows"]


class UnsortedRows(Check):
    """The order of the file is then not the order of events, so it says nothing about ties either."""

    def look(self, survey: Survey) -> Finding | None:
        """A note; nothing where the order of rows plays no part."""
        if not survey.backward or survey.log.ties != Ties.ROWS:
            return None
        steps = survey.neighbours - survey.ties
        tied = f" Here {survey.ties:,} ties are broken that way." if survey.ties else ""
        return self.found(
            Severity.NOTE,
            survey.backward,
            steps,
            message=f"From one event of a user to the next, the file goes backwards in "
            f"{percent(survey.backward, steps)} of cases ({survey.backward:,}).",
            breaks="Times are sorted in any case. But a file that is not in order of time was shuffled or "
            f"sorted by something else, and its rows do not say what came first within an instant.{tied}",
            remedy="Declare ties unordered, or name a column that orders them." if tied else "Nothing to do.",
            options=("--ties unordered", "--order COLUMN") if tied else (),
        )
