"""Metrics against values computed by hand."""

import math

import numpy as np
import pytest

from rota.errors import InputError
from rota.evaluation import HR, MRR, NDCG, Metric, metric
from rota.evaluation.metrics.parsing import DEFAULT_METRICS
from rota.rooms import names

RANKS = np.array([1, 2, 10, 11, 0])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("HR@1", [1, 0, 0, 0, 0]),
        ("HR@10", [1, 1, 1, 0, 0]),
        ("HR", [1, 1, 1, 1, 0]),
        ("NDCG@10", [1, 1 / math.log2(3), 1 / math.log2(11), 0, 0]),
        ("MRR", [1, 1 / 2, 1 / 10, 1 / 11, 0]),
        ("MRR@2", [1, 1 / 2, 0, 0, 0]),
    ],
)
def test_by_hand(name: str, values: list[float]) -> None:
    found = metric(name)(RANKS)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, values, rtol=1e-15)


def test_names_lead_back_to_the_metric() -> None:
    assert [metric(name).name for name in DEFAULT_METRICS] == ["HR@1", "HR@10", "NDCG@10", "MRR"]
    assert metric("ndcg@5") == NDCG(5)
    assert (HR(10).name, MRR().name) == ("HR@10", "MRR")


def every_metric() -> list[Metric]:
    return [metric(name) for name in names("evaluation.metrics") if name not in {"base", "parsing"}]


@pytest.mark.parametrize("each", every_metric(), ids=lambda each: each.name)
def test_every_metric_is_one_at_the_top_and_never_rises_with_the_rank(each: Metric) -> None:
    values = each(np.arange(1, 1000))
    assert values[0] == 1
    assert np.all(np.diff(values) <= 0)
    assert values[-1] > 0
    assert each(np.array([0])) == 0
    cut = type(each)(20)(np.array([[20, 21], [0, 1]]))
    assert (cut > 0).tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize("name", ["", "HR@", "HR@ten", "@10", "HR 10", "HR@-1"])
def test_unreadable_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="expected a name and a cutoff"):
        metric(name)


def test_unknown_metrics_are_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"'recall' in evaluation.metrics: expected one of hr, mrr, ndcg"):
        metric("Recall@10")


def test_impossible_cutoffs_and_ranks_are_refused() -> None:
    with pytest.raises(InputError, match="cutoff 0 of HR"):
        metric("HR@0")
    with pytest.raises(InputError, match="rank -1"):
        MRR()(np.array([1, -1]))
