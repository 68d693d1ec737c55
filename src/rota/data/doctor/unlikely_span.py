"""Unlikely span: from first to last event in under a minute or over two centuries, or all around 1970."""

from rota.data.doctor._wording import length
from rota.data.doctor.check import ClockCheck
from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Totals
from rota.units import UNITS

__all__ = ["UnlikelySpan"]

_MINUTE, _YEAR = 60, 366 * 86_400  # s


class UnlikelySpan(ClockCheck):
    """Times read in the wrong unit: a thousand times too long or too short is still a number."""

    def look(self, survey: Totals) -> Finding | None:
        """An error where no log of people's acts has such a span."""
        if survey.events < 2 or survey.first == survey.last:
            return None
        near_zero = survey.log.known_epoch and survey.first >= 0 and survey.last < _YEAR * survey.second
        if not (survey.span < _MINUTE or survey.too_long or near_zero):
            return None
        where = " All of it lies in 1970, where clocks begin." if near_zero else ""
        others = tuple(f"--unit {unit}" for unit in UNITS if unit != survey.log.unit)
        return self.found(
            Severity.ERROR,
            survey.events,
            survey.events,
            message=f"Read in the unit {survey.log.unit}, the log lasts {length(survey.span)}.{where}",
            breaks="In a wrong unit a day is a minute, or three years: periods, gaps and temporal splits all "
            "miss what they mean, and no number looks wrong.",
            remedy="Say the unit of the times; if they count from an unknown zero, say that.",
            options=(*others, "--epoch unknown"),
        )
