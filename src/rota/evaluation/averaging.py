"""Averages over questions: within a user first, so that every user counts the same."""

import numpy as np

from rota.evaluation.metrics.base import Metric
from rota.evaluation.positives import Positives
from rota.histories import Histories, Spans
from rota.types import Float64Array, Int64Array

__all__ = ["mean_of"]


def by_user(values: Float64Array, users: Int64Array) -> Float64Array:
    """Mean value of each user's questions, users in the order of their codes; shape ``(users,)``.

    Args:
        values: Of each question, shape ``(questions,)``.
        users: User code of each question, 0 to the number of users - 1, each at least once; likewise.
    """
    return np.asarray(np.bincount(users, values) / np.bincount(users))


def mean_of(metric: Metric, ranks: Int64Array, histories: Histories, spans: Spans) -> float:
    """A metric's mean over the users of a stage.

    Args:
        metric: What a question's ranks are worth.
        ranks: As `ask` gave them.
        histories: What was asked about.
        spans: Stage that was asked.
    """
    values = metric(ranks, Positives.of(histories, spans).offsets)
    _, users = np.unique(spans.users, return_inverse=True)
    return float(by_user(values, users.astype(np.int64)).mean())
