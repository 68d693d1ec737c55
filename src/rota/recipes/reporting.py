"""Reporting: runs of one question, with what a reader must know of the log and of the libraries."""

import platform
from collections.abc import Sequence
from importlib.metadata import version

from rota.evaluation.results import Comparison
from rota.evaluation.run import Run
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question

__all__: list[str] = []

_LIBRARIES = ("rota", "torch", "numpy", "pyarrow")


def comparison_of(question: Question, protocol: Protocol, control: str, runs: Sequence[Run]) -> Comparison:
    """Runs as a comparison.

    Args:
        question: What was asked.
        protocol: How.
        control: Arm that the others are compared with.
        runs: The answers.
    """
    return Comparison(
        time_access=protocol.time_access,
        seen=protocol.seen,
        control=control,
        split_name=question.stages.name,
        split_hash=question.stages.hash,
        data=question.facts(),
        versions={"python": platform.python_version()}
        | {library: version(library) for library in _LIBRARIES},
        users=question.users,
        targets=question.targets,
        offsets=question.positives.offsets,
        runs=runs,
    )
