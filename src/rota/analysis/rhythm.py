"""Rhythm: the verdict on a log, routine, recency, nothing, or that it cannot be told."""

from collections.abc import Sequence

from rota.analysis.period import Period
from rota.analysis.periods import LEAST
from rota.analysis.recency import Recency
from rota.choice import Choice

__all__: list[str] = ["Rhythm", "judge_rhythm"]

_FAINT = 0.15  # of the strongest: what is weaker is told apart from it, but is not worth a prior


class Rhythm(Choice):
    """What the time between two events says of whether they are the same.

    Attributes:
        ROUTINE: It returns with a period.
        RECENCY: The shorter, the likelier; no period.
        NOTHING: Neither, or too faint to be worth a prior.
        UNKNOWN: It cannot be told.
    """

    ROUTINE = "routine"
    RECENCY = "recency"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


def judge_rhythm(
    found: Sequence[Period], recency: Recency | None, *, told: bool = True
) -> tuple[Rhythm, tuple[Period, ...], tuple[Period, ...]]:
    """The verdict, the periods that it is of, and those that are too faint for it.

    A period counts if the whole of its interval is above a twentieth of chance and it has 15 % of the
    strength of the strongest.

    Args:
        found: Periods, the strongest first.
        recency: Recency, if there is any.
        told: Whether the log can tell that there is nothing, where nothing is found.
    """
    strong = [each.lo >= LEAST and each.strength >= _FAINT * found[0].strength for each in found]
    periods = tuple(each for each, counts in zip(found, strong, strict=True) if counts)
    faint = tuple(each for each, counts in zip(found, strong, strict=True) if not counts)
    if periods:
        return Rhythm.ROUTINE, periods, faint
    nothing = Rhythm.NOTHING if told else Rhythm.UNKNOWN
    return (nothing if recency is None else Rhythm.RECENCY), (), faint
