"""Metrics by their names: "HR@10" is the class of hr.py with k = 10."""

import re

from rota.errors import InputError
from rota.evaluation.metrics.base import Metric
from rota.rooms import find

DEFAULT_METRICS = ("HR@1", "HR@10", "NDCG@10", "MRR")
SET_METRICS = ("Recall@10", "MAP")  # beside them, where a question has several positives

_NAME = re.compile(r"([A-Za-z]\w*)(?:@([0-9]+))?")


def metric(name: str) -> Metric:
    """Read a metric's name.

    Args:
        name: A metric, and after ``@`` its cutoff: ``"HR@10"``, ``"NDCG@10"``, ``"MRR"``.

    Raises:
        InputError: It cannot be read, there is no such metric, or the cutoff is not positive.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise InputError(f'metric {name!r}: expected a name and a cutoff, for instance "HR@10", or "MRR"')
    kind = find("evaluation.metrics", match[1].lower(), Metric)  # type: ignore[type-abstract]
    return kind(int(match[2]) if match[2] else None)
