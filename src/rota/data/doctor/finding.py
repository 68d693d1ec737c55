"""Finding: something about a log that a person should know before anything is trained on it."""

from dataclasses import dataclass

from rota.choice import Choice

__all__ = ["Finding", "Severity"]


class Severity(Choice):
    """How bad it is.

    Attributes:
        ERROR: Nothing learnt from the log can be trusted: `prepare` stops.
        WARNING: Results would mislead, unless it is mended or meant.
        NOTE: Worth knowing.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        code: Name of the check, which is its file's.
        severity: How bad it is.
        count: How many events, users, items or days.
        share: ``count`` among all of them, from 0 to 1.
        message: What was found, with its numbers.
        breaks: What goes wrong if it stays.
        remedy: What mends it, as a sentence.
        options: The same as options of ``rota prepare``, one or another of them.
    """

    code: str
    severity: Severity
    count: int
    share: float
    message: str
    breaks: str
    remedy: str
    options: tuple[str, ...] = ()
