"""Averages over questions: within a user first, so that every user counts the same."""

import math

import numpy as np

from rota.evaluation.metrics.base import Metric
from rota.evaluation.positives import Positives
from rota.histories import Histories, Spans
from rota.types import Float64Array, Int64Array

__all__ = ["mean_of"]


def by_user(values: Float64Array, users: Int64Array) -> Float64Array:
    """Mean value of each user's questions, users in the order of their codes; shape ``(users,)``.

    Questions without a value are left out; NaN where a user has none that has one.

    Args:
        values: Of each question, NaN where it has none; shape ``(questions,)``.
        users: User code of each question, 0 to the number of users - 1, each at least once; likewise.
    """
    known = ~np.isnan(values)
    count = int(users.max(initial=-1)) + 1
    sums, sizes = (np.bincount(users[known], weights, count) for weights in (values[known], None))
    means = np.full(count, np.nan)
    np.divide(sums, sizes, out=means, where=sizes > 0)
    return means


def mean_known(values: Float64Array) -> float:
    """Mean of the values that are not NaN; NaN where there is none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def mean_of(metric: Metric, ranks: Int64Array, histories: Histories, spans: Spans) -> float:
    """A metric's mean over the users of a stage.

    Args:
        metric: What a question's ranks are worth.
        ranks: As `ask` gave them.
        histories: What was asked about.
        spans: Stage that was asked.

    Returns:
        The mean over the users with a question that has a positive; NaN where there is none.
    """
    values = metric(ranks, Positives.of(histories, spans).offsets)
    return mean_known(by_user(values, numbered(spans.users)))


def numbered(users: Int64Array) -> Int64Array:
    """Codes of users numbered from 0 in their order, none left out; same shape."""
    return np.asarray(np.unique(users, return_inverse=True)[1], dtype=np.int64)
