"""Averages within users, then over them: what is not defined is left out, and is not zero."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.evaluation.averaging import by_user, mean_known, numbered

VALUES = st.sampled_from([0.0, 0.25, 0.5, 1.0, math.nan])


@given(st.lists(st.tuples(st.integers(3, 7), VALUES), min_size=1, max_size=20))
def test_equals_a_loop_over_users(asked: list[tuple[int, float]]) -> None:
    users = numbered(np.array([user for user, _ in asked]))
    found = by_user(np.array([value for _, value in asked]), users)
    expected = []
    for user in sorted({user for user, _ in asked}):
        own = [value for other, value in asked if other == user and not math.isnan(value)]
        expected.append(sum(own) / len(own) if own else math.nan)
    np.testing.assert_array_equal(found, expected)
    known = [value for value in expected if not math.isnan(value)]
    assert mean_known(found) == pytest.approx(sum(known) / len(known) if known else math.nan, nan_ok=True)


def test_nothing_has_no_mean() -> None:
    assert by_user(np.zeros(0), np.zeros(0, np.int64)).shape == (0,)
    assert math.isnan(mean_known(np.zeros(0)))
