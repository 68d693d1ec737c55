"""Check: looks for one thing in the survey of a log; a file of this room each."""

from abc import ABC, abstractmethod

from rota.data.doctor.finding import Finding, Severity
from rota.data.doctor.survey import Survey, Totals

__all__ = ["Check", "ClockCheck"]


class Check(ABC):
    """Looks for one thing. It reads figures only: what is to be counted is counted once, for all checks."""

    @abstractmethod
    def look(self, survey: Survey) -> Finding | None:
        """What it found, or ``None`` where all is well."""

    def found(
        self,
        severity: Severity,
        count: int,
        among: int,
        *,
        message: str,
        breaks: str,
        remedy: str,
        options: tuple[str, ...] = (),
    ) -> Finding:
        """A finding under the name of this check's file; ``count`` is a part of ``among``."""
        code = type(self).__module__.rpartition(".")[2]
        return Finding(code, severity, count, count / max(among, 1), message, breaks, remedy, options)


class ClockCheck(Check):
    """Looks for what makes a log useless, in the times alone: `prepare` asks these, and stops."""

    @abstractmethod
    def look(self, survey: Totals) -> Finding | None:
        """What it found, an error, or ``None`` where all is well."""
