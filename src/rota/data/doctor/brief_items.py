"""Brief items: those whose events all lie within an hour."""

from rota.data.doctor._wording import counted, percent
from rota.data.doctor.check import Check
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey

__all__ = ["BriefItems"]

_MANY = 0.01


class BriefItems(Check):
    """Auctions, alerts, live streams, one-off imports: what is gone before it can be recommended."""

    def look(self, survey: Survey) -> Finding | None:
        """A warning where they are one in a hundred of the items with three events or more."""
        if not survey.brief_items or survey.brief_items < _MANY * survey.lasting_items:
            return None
        return self.found(
            Severity.WARNING,
            survey.brief_items,
            survey.lasting_items,
            message=f"{counted(survey.brief_items, 'item')} "
            f"({percent(survey.brief_items, survey.lasting_items)} of those with three events or more) "
            f"{'has all its' if survey.brief_items == 1 else 'have all their'} events within one hour.",
            breaks="A split by user trains on the very hour in which it tests, and an item is known by its "
            "time alone: a score that no served model can reach. A split by time never sees them twice.",
            remedy="Compare under a split by time, or keep items that enough users return to.",
            options=("--k-core 5",),
        )
