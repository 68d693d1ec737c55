"""Metrics against values computed by hand, and those of sets against trec_eval's."""

import math
from random import Random

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.errors import InputError
from rota.evaluation import HR, MAP, MRR, NDCG, Metric, Recall, metric
from rota.evaluation.metrics.parsing import DEFAULT_METRICS, SET_METRICS
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
        ("Recall@10", [1, 1, 1, 0, 0]),
        ("MAP@2", [1, 1 / 2, 0, 0, 0]),
        ("MAP", [1, 1 / 2, 1 / 10, 1 / 11, 0]),
    ],
)
def test_by_hand(name: str, values: list[float]) -> None:
    found = metric(name)(RANKS)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, values, rtol=1e-15)
    np.testing.assert_array_equal(metric(name)(RANKS, np.arange(6)), found)


LOG2 = [math.log2(1 + rank) for rank in range(1, 20)]
# Three questions: of three positives (one missed), of one, of two at one rank.
SETS, OFFSETS = np.array([5, 0, 2, 3, 4, 4]), np.array([0, 3, 4, 6])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("HR@1", [0, 0, 0]),
        ("HR@3", [1, 1, 0]),
        ("Recall@3", [1 / 3, 1, 0]),
        ("Recall", [2 / 3, 1, 1]),
        ("MRR", [1 / 2, 1 / 3, 1 / 4]),
        ("MRR@3", [1 / 2, 1 / 3, 0]),
        ("MAP", [(1 / 2 + 2 / 5) / 3, 1 / 3, (1 / 4 + 2 / 4) / 2]),
        ("MAP@4", [1 / 2 / 3, 1 / 3, (1 / 4 + 2 / 4) / 2]),
        ("NDCG@2", [1 / LOG2[1] / (1 + 1 / LOG2[1]), 0, 0]),
        ("NDCG", [
            (1 / LOG2[1] + 1 / LOG2[4]) / (1 + 1 / LOG2[1] + 1 / LOG2[2]),
            1 / LOG2[2],
            2 / LOG2[3] / (1 + 1 / LOG2[1]),
        ]),
    ],
)  # fmt: skip
def test_sets_by_hand(name: str, values: list[float]) -> None:
    np.testing.assert_allclose(metric(name)(SETS, OFFSETS), values, rtol=1e-14)


QUESTIONS = st.lists(
    st.lists(st.integers(1, 30), min_size=1, max_size=8, unique=True), min_size=1, max_size=6
)


@given(QUESTIONS)
def test_equals_trec_eval(questions: list[list[int]]) -> None:
    """Distinct ranks in a catalogue of 30, by ir-measures over trec_eval."""
    theirs = {
        "HR@5": ir_measures.Success @ 5, "Recall@5": ir_measures.R @ 5, "NDCG@5": ir_measures.nDCG @ 5,
        "NDCG": ir_measures.nDCG, "MRR": ir_measures.RR, "MAP@5": ir_measures.AP @ 5, "MAP": ir_measures.AP,
    }  # fmt: skip
    truth = {str(q): {str(rank): 1 for rank in ranks} for q, ranks in enumerate(questions)}
    answer = {str(q): {str(rank): -float(rank) for rank in range(1, 31)} for q in range(len(questions))}
    expected = {
        (str(value.measure), int(value.query_id)): value.value
        for value in ir_measures.iter_calc(theirs.values(), truth, answer)
    }
    ranks = np.array([rank for own in questions for rank in own])
    offsets = np.cumsum([0, *map(len, questions)])
    for name, measure in theirs.items():
        found = metric(name)(ranks, offsets)
        for question, value in enumerate(found.tolist()):
            assert value == pytest.approx(expected[str(measure), question], rel=1e-9, abs=1e-12)


@given(QUESTIONS, st.sampled_from([None, 1, 3, 10]), st.randoms())
def test_sets_have_no_order_and_values_of_at_most_one(
    questions: list[list[int]], k: int | None, random: Random
) -> None:
    offsets = np.cumsum([0, *map(len, questions)])
    shuffled = [random.sample(own, len(own)) for own in questions]
    for kind in (HR, MAP, MRR, NDCG, Recall):
        values = kind(k)(np.concatenate(questions), offsets)
        np.testing.assert_array_equal(kind(k)(np.concatenate(shuffled), offsets), values)
        assert ((values >= 0) & (values <= 1 + 1e-12)).all()
        tied = kind(k)(np.repeat([max(own) for own in questions], np.diff(offsets)), offsets)
        assert (tied <= values + 1e-12).all()  # one rank for all, the last of theirs, is never better


def test_a_perfect_ranking_is_worth_one() -> None:
    for kind in (HR, MAP, MRR, NDCG, Recall):
        np.testing.assert_allclose(kind()(np.array([2, 1, 3, 1]), np.array([0, 3, 4])), [1, 1])
    assert NDCG(2)(np.array([1, 2, 3]), np.array([0, 3])) == 1  # two fit, and two are there


@pytest.mark.parametrize("offsets", [[0, 2, 1, 3], [0, 2], [1, 3], [0, 4], []])
def test_offsets_that_do_not_fit_are_refused(offsets: list[int]) -> None:
    with pytest.raises(InputError, match="over 3 ranks: expected them to begin at 0, never to fall"):
        MRR()(np.array([1, 2, 3]), np.array(offsets, np.int64))


@pytest.mark.parametrize("name", ["HR@1", "HR", "MRR", "MAP@2", "NDCG@2", "NDCG", "Recall@1"])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_question_without_a_positive_has_no_value(name: str, place: int) -> None:
    """NaN there, and the other questions are worth what they were."""
    with_empty = np.insert(OFFSETS, place, OFFSETS[place])
    found = metric(name)(SETS, with_empty)
    assert np.isnan(found).tolist() == [question == place for question in range(4)]
    np.testing.assert_array_equal(np.delete(found, place), metric(name)(SETS, OFFSETS))
    assert np.isnan(metric(name)(np.zeros(0, np.int64), np.array([0, 0, 0]))).tolist() == [True, True]


def test_no_question_has_no_value() -> None:
    assert NDCG(10)(np.zeros(0, np.int64), np.array([0])).shape == (0,)


def test_names_lead_back_to_the_metric() -> None:
    assert [metric(name).name for name in DEFAULT_METRICS] == ["HR@1", "HR@10", "NDCG@10", "MRR"]
    assert [metric(name).name for name in SET_METRICS] == ["Recall@10", "MAP"]
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
    with pytest.raises(
        InputError, match=r"'auc' in evaluation.metrics: expected one of hr, map, mrr, ndcg, "
    ):
        metric("AUC")


def test_impossible_cutoffs_and_ranks_are_refused() -> None:
    with pytest.raises(InputError, match="cutoff 0 of HR"):
        metric("HR@0")
    with pytest.raises(InputError, match="rank -1"):
        MRR()(np.array([1, -1]))
