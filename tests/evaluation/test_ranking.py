"""Ranks against a count by hand, and the ways in which they can be refused."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rota.errors import InputError
from rota.evaluation import rank


def slow_rank(scores: list[float], target: int, candidates: list[bool]) -> int:
    if not candidates[target]:
        return 0
    return len([s for s, c in zip(scores, candidates, strict=True) if c and s >= scores[target]])


def test_ties_count_against_the_target() -> None:
    assert rank([3.0, 1.0, 1.0, 2.0], 0) == 1
    assert rank([3.0, 1.0, 1.0, 2.0], 1) == 4
    assert rank(np.zeros(7), 3) == 7
    assert rank(torch.tensor([1.0, -torch.inf, -torch.inf]), 2) == 3


def test_leading_shape_and_dtype() -> None:
    ranks = rank(torch.arange(24.0).reshape(2, 3, 4), torch.tensor([[0, 1, 2], [3, 3, 0]]))
    assert ranks.dtype == torch.int64
    assert ranks.tolist() == [[4, 3, 2], [1, 1, 4]]


def test_unequal_python_floats_do_not_tie() -> None:
    assert rank([1.0, 1.0 + 1e-12], 1) == 1


def test_integer_scores_rank_exactly() -> None:
    assert rank(np.array([2**60, 2**60 + 1]), 1) == 1


@given(st.data(), st.integers(1, 8))
def test_equals_the_count_by_hand(data: st.DataObject, items: int) -> None:
    scores = data.draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=items, max_size=items))
    candidates = data.draw(st.lists(st.booleans(), min_size=items, max_size=items))
    target = data.draw(st.integers(0, items - 1))
    assert rank(scores, target) == slow_rank(scores, target, [True] * items)
    assert rank(scores, target, candidates=torch.tensor(candidates)) == slow_rank(scores, target, candidates)


@pytest.mark.parametrize("target", [-1, 3])
def test_target_outside_the_catalogue_is_refused(target: int) -> None:
    with pytest.raises(InputError, match=rf"target {target}: expected an item code from 0 to 2"):
        rank([0.0, 1.0, 2.0], target)


def test_nan_is_refused_by_its_place() -> None:
    with pytest.raises(InputError, match=r"scores\[1, 2\] is NaN \(1 of 6"):
        rank([[0.0, 1.0, 2.0], [0.0, 1.0, np.nan]], [0, 0])


@pytest.mark.parametrize(("scores", "target"), [([1.0, 2.0], [0]), ([[1.0, 2.0]], 0), (1.0, 0)])
def test_shapes_that_do_not_fit_are_refused(scores: object, target: object) -> None:
    with pytest.raises(InputError, match="one target for each row"):
        rank(scores, target)  # type: ignore[arg-type]


def test_fractional_targets_are_refused() -> None:
    with pytest.raises(InputError, match="integer item codes"):
        rank([1.0, 2.0], 1.0)
