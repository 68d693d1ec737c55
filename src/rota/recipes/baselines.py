"""Untrained baselines: the lines of arithmetic that every trained arm stands beside."""

from functools import cache

from rota.batch import TimeAccess
from rota.evaluation.protocol import ask
from rota.evaluation.run import Run
from rota.models.baseline import Baseline
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question
from rota.rooms import find, offers

__all__ = ["baseline_runs"]


@cache
def untrained_names() -> tuple[str, ...]:
    """Names of all baselines, in the order of the table: what everybody does, then what the user does.

    Within both, those that need no clock first, then by name.
    """

    def place(name: str) -> tuple[bool, bool, str]:
        kind = _kind(name)
        return kind.personal, kind.needs_clock, name

    return tuple(sorted(offers("models", Baseline), key=place))


def baseline_runs(question: Question, protocol: Protocol) -> list[Run]:
    """Test ranks of every baseline of the room ``models``; without a clock those that need one are left out.

    Each is fitted on what the split lets it count, and shown the history of each question.
    """
    histories, stages = question.histories, question.stages
    runs = []
    for name in untrained_names():
        model = _kind(name).fitted(histories, stages.counted)
        if model.needs_clock and protocol.time_access == TimeAccess.NONE:
            continue
        ranks = ask(model, histories, stages.test, access=protocol.time_access, seen=protocol.seen)
        runs.append(Run(name, None, ranks))
    return runs


def _kind(name: str) -> type[Baseline]:
    return find("models", name, Baseline)  # type: ignore[type-abstract]
