"""Questions of a comparison: who was asked each, and for how many targets."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from rota.errors import InputError
from rota.evaluation.run import Run
from rota.types import Int64Array

__all__: list[str] = []


def users_asked(users: pa.Array) -> Int64Array:
    """User of each question, numbered in the order in which they are first asked; shape ``(questions,)``.

    Args:
        users: Id of who is asked each question.
    """
    return np.asarray(users.dictionary_encode().indices.to_numpy(), dtype=np.int64)


def check_sizes(users: pa.Array, targets: pa.Array, offsets: Int64Array | None, runs: Sequence[Run]) -> None:
    """Check that there is a user for each question, at least one target, and a rank for each of these.

    Args:
        users: Id of who is asked each question.
        targets: Ids of all items that did come.
        offsets: Targets of each question; ``None`` where each has one.
        runs: With their ranks.

    Raises:
        InputError: There is not.
    """
    if offsets is not None and len(offsets) != len(users) + 1:
        raise InputError(
            f"{len(users)} users and offsets of {len(offsets) - 1} questions: expected one user for each"
        )
    if offsets is not None and (np.diff(offsets) < 1).any():
        question = int(np.argmax(np.diff(offsets) < 1))
        raise InputError(f"question {question} has no target: expected at least one; leave it out")
    asked = len(users) if offsets is None else int(offsets[-1])
    sizes = {asked, len(targets), *(len(run.ranks) for run in runs)}
    if len(sizes) > 1:
        raise InputError(f"users, targets and ranks of {sorted(sizes)} rows: expected one for each target")
