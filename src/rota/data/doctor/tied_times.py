"""Tied times: neighbouring events of a user at one instant, whose order no time says."""

from rota.data.doctor._wording import counted, percent
from rota.data.doctor.check import Check
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey
from rota.data.events import Ties

__all__ = ["TiedTimes"]

_OFTEN = 0.01  # of neighbouring events, or of users


class TiedTimes(Check):
    """Baskets, imports in bulk, rounded clocks: what orders them decides what is asked in the test."""

    def look(self, survey: Survey) -> Finding | None:
        """A warning where ties are frequent and the order of rows decides them; else a note."""
        if not survey.ties:
            return None
        share = survey.ties / max(survey.neighbours, 1)
        often = max(share, survey.tied_users / survey.users) >= _OFTEN
        by_rows = survey.log.ties == Ties.ROWS
        return self.found(
            Severity.WARNING if often and by_rows else Severity.NOTE,
            survey.ties,
            survey.neighbours,
            message=f"{percent(survey.ties, survey.neighbours)} of neighbouring events of a user share one "
            f"instant ({survey.ties:,} of {survey.neighbours:,}). {_last_instants(survey)}",
            breaks=_BREAKS[survey.log.ties].format(share=percent(survey.tied_users, survey.users)),
            remedy=_REMEDY[survey.log.ties],
            options=("--ties unordered", "--order COLUMN") if by_rows else (),
        )


def _last_instants(survey: Survey) -> str:
    if not survey.tied_users:
        return "No user's last instant holds several items."
    users, share = counted(survey.tied_users, "user"), percent(survey.tied_users, survey.users)
    return f"The last instant of {users} ({share}) holds several items."


_BREAKS = {
    Ties.ROWS: "The order of the rows in the file decides. For {share} of users it decides which item the "
    "test asks for: an unstable sort, or another export of the same log, asks for another.",
    Ties.COLUMN: "A column orders them: if its order means nothing, {share} of the targets of leave-one-out "
    "are drawn by it.",
    Ties.UNORDERED: "As declared, they have no order: for {share} of users the test asks for a set of items, "
    "and a model is given nothing that tells them apart.",
}
_REMEDY = {
    Ties.ROWS: "If a basket has no order, say so; if it has one, name the column that says it.",
    Ties.COLUMN: "Nothing to do, if the column is meant.",
    Ties.UNORDERED: "Nothing to do: this is how baskets should be read.",
}
