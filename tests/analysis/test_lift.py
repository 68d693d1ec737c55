"""The lift: exact against a count pair by pair, one on average by chance, the same however counted."""

import tracemalloc
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lifts_made import HOUR, counted_slowly, lift_like

from rota.analysis import pair_counts
from rota.analysis.lift import Lift, measure_lift, resample_weights
from rota.errors import InputError
from rota.types import Int64Array

Log = tuple[Int64Array, Int64Array, Int64Array]


def random_log(seed: int, users: int = 12, most: int = 40, span: int = 400, items: int = 5) -> Log:
    """Offsets, times and labels; the times of a user are in no order, many are equal."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, most, users)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return offsets, rng.integers(0, span, offsets[-1]), rng.integers(0, items, offsets[-1])


def together(lift: Lift) -> tuple[list[int], list[int], list[float]]:
    return lift.same.sum(0).tolist(), lift.pairs.sum(0).tolist(), lift.expected.sum(0).tolist()


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 30))
def test_every_pair_is_counted_once(seed: int, width: int, groups: int) -> None:
    offsets, times, labels = random_log(seed)
    lift = measure_lift(offsets, times, labels, width=width, longest=5 * width, groups=groups)
    same, pairs, expected = counted_slowly(offsets.tolist(), times.tolist(), labels.tolist(), width, 5)
    assert together(lift)[:2] == (same.tolist(), pairs.tolist())
    np.testing.assert_allclose(lift.expected.sum(0), expected, rtol=1e-12)
    assert lift.lags.tolist() == [width * k for k in range(1, 6)]
    assert lift.same.shape[0] == min(groups, int((np.diff(offsets) > 1).sum()))


@pytest.mark.parametrize("block", [1, 50, 10**6])
def test_numpy_alone_counts_the_same(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    offsets, times, labels = random_log(1, users=40)
    compiled = measure_lift(offsets, times, labels, width=7, longest=300, groups=6, seed=3)
    monkeypatch.setattr(pair_counts, "_BLOCK", block)
    monkeypatch.setattr(pair_counts.native, "available", lambda: False)
    plain = measure_lift(offsets, times, labels, width=7, longest=300, groups=6, seed=3)
    np.testing.assert_array_equal(plain.same, compiled.same)
    np.testing.assert_array_equal(plain.pairs, compiled.pairs)
    np.testing.assert_allclose(plain.expected, compiled.expected, rtol=1e-12)
    assert (plain.num_users, plain.num_pairs, plain.share) == (compiled.num_users, compiled.num_pairs, 1.0)


def test_memory_does_not_grow_with_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times the events, in blocks of the same size, and not a tenth more memory."""
    monkeypatch.setattr(pair_counts, "_BLOCK", 20_000)
    rng, peaks = np.random.default_rng(0), []
    for users in (40, 400):
        offsets = np.arange(users + 1) * 1000
        times = rng.integers(0, 10**7, (users, 1000))
        times.sort(axis=1)
        labels = rng.integers(0, 9, users * 1000)
        tracemalloc.start()
        measure_lift(offsets, times.ravel(), labels, width=100, longest=2000, groups=10)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


def test_dealing_items_at_random_gives_what_is_expected() -> None:
    """Over all orders of a user's items the mean of the same pairs is exact: ties and gaps do not matter."""
    times = np.array([0, 3, 3, 8, 20, 26], np.int64)
    labels = [0, 0, 0, 1, 1, 2]
    every = [np.array(order, np.int64) for order in set(permutations(labels))]
    lifts = [measure_lift(np.array([0, 6]), times, order, width=2, longest=26) for order in every]
    mean = np.mean([lift.same.sum(0) for lift in lifts], axis=0)
    np.testing.assert_allclose(mean, lifts[0].expected.sum(0), rtol=1e-12)


def test_a_unit_is_only_a_unit() -> None:
    offsets, times, labels = random_log(2)
    seconds = measure_lift(offsets, times, labels, width=6, longest=60)
    millis = measure_lift(offsets, times * 1000, labels, unit="ms", width=6, longest=60)
    assert seconds.lags.tolist() == millis.lags.tolist() == [6.0 * k for k in range(1, 11)]
    assert together(seconds) == together(millis)
    nanos = measure_lift(
        offsets, times * 10**9 + 1_700_000_000 * 10**9, labels, unit="ns", width=6, longest=60
    )
    assert together(seconds) == together(nanos)


def test_rows_before_the_first_offset_are_no_ones() -> None:
    offsets, times, labels = random_log(3)
    some = measure_lift(offsets[3:], times, labels, width=5, longest=100)
    alone = measure_lift(
        offsets[3:] - offsets[3], times[offsets[3] :], labels[offsets[3] :], width=5, longest=100
    )
    assert together(some) == together(alone)


def test_wide_bins_hold_what_narrow_ones_held() -> None:
    offsets, times, labels = random_log(4)
    narrow = measure_lift(offsets, times, labels, width=2, longest=200)
    for wide in (3, 5):
        once = measure_lift(offsets, times, labels, width=2 * wide, longest=200 - wide)
        joined = narrow.coarser(wide)
        bins = min(len(once.lags), len(joined.lags))
        assert bins > 15
        assert joined.lags[:bins].tolist() == once.lags[:bins].tolist()
        # a narrow bin and a wide one share their outer edges only where half a narrow one is whole ticks
        np.testing.assert_array_equal(joined.pairs.sum(0)[:bins], once.pairs.sum(0)[:bins])
        np.testing.assert_array_equal(joined.same.sum(0)[:bins], once.same.sum(0)[:bins])


def test_of_too_many_pairs_those_of_a_sample_of_users_are_counted() -> None:
    offsets, times, labels = random_log(5, users=300)
    whole = measure_lift(offsets, times, labels, width=5, longest=100)
    told: list[tuple[int, int]] = []
    some = measure_lift(
        offsets, times, labels, width=5, longest=100, most_pairs=whole.num_pairs // 4, seed=1,
        report=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert some.num_pairs <= whole.num_pairs // 4
    assert 0.15 < some.share < 0.35
    assert some.share == pytest.approx(some.num_users / whole.num_users)
    assert told[-1] == (some.num_pairs, some.num_pairs)
    near = int(some.pairs.sum())
    assert near <= some.num_pairs  # those closer than half a bin are in none
    other = measure_lift(
        offsets, times, labels, width=5, longest=100, most_pairs=whole.num_pairs // 4, seed=2
    )
    assert together(other) != together(some)


def test_bootstrap_samples_are_of_whole_groups() -> None:
    lift = lift_like(lambda lags: 1 + 0 * lags, groups=7, longest=10 * HOUR)
    weights = resample_weights(7, 5, seed=4)
    assert weights.sum(axis=1).tolist() == [7] * 5
    drawn = lift.resampled(5, seed=4)
    for row, weight in zip(drawn, weights, strict=True):
        picked = np.repeat(np.arange(7), weight.astype(np.int64))
        np.testing.assert_allclose(row, lift.same[picked].sum(0) / lift.expected[picked].sum(0), rtol=1e-12)


def test_a_band_holds_the_truth_as_often_as_it_says() -> None:
    held = []
    for seed in range(40):
        lo, hi = lift_like(lambda lags: 1 + 0 * lags, seed=seed, longest=20 * HOUR, users_differ=0.5).band(
            0.9
        )
        held.append(float(((lo <= 1) & (hi >= 1)).mean()))
    assert 0.86 < np.mean(held) < 0.93


def test_where_nothing_is_expected_there_is_no_lift() -> None:
    lift = measure_lift(np.array([0, 3]), np.array([0, 10, 20]), np.array([1, 2, 3]), width=10, longest=20)
    assert np.isnan(lift.value).all()
    assert np.isnan(lift.resampled(3, 0)).all()
    assert lift.pairs.tolist() == [[2, 1]]


def test_pairs_at_one_time_belong_to_no_lag() -> None:
    lift = measure_lift(np.array([0, 3]), np.array([5, 5, 9]), np.array([1, 1, 1]), width=10, longest=20)
    assert lift.pairs.sum() == 0
    lift = measure_lift(np.array([0, 3]), np.array([5, 5, 10]), np.array([1, 1, 1]), width=10, longest=20)
    assert lift.pairs.tolist() == [[2, 0]]  # a bin holds its lower edge


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"users_offsets": np.array([0, 9])}, "do not fit"),
        ({"users_offsets": np.array([2, 1, 3])}, "do not fit"),
        ({"labels": np.array([1, 2])}, "2 labels"),
        ({"users_offsets": np.array([0, 1, 2, 3])}, "none with two events"),
        ({"longest": 1}, "bins"),
        ({"width": 1}, "under two ticks"),
        ({"width": 2, "longest": 10**9}, "choose another width"),
        ({"groups": 0}, "0 groups"),
        ({"most_pairs": 2}, "allow more pairs"),
        ({"unit": "h"}, "time unit 'h'"),
    ],
)
def test_what_cannot_be_counted_is_refused(changed: dict[str, object], said: str) -> None:
    log = {"users_offsets": np.array([0, 3]), "times": np.array([0, 3, 9]), "labels": np.array([1, 1, 2])}
    given_ = {**log, "width": 3, "longest": 9, **changed}
    with pytest.raises(InputError, match=said):
        measure_lift(**given_)  # type: ignore[arg-type]


@pytest.mark.parametrize("confidence", [0.0, 1.0, 2.0])
def test_a_band_needs_a_confidence(confidence: float) -> None:
    with pytest.raises(InputError, match="confidence"):
        lift_like(lambda lags: lags, longest=5 * HOUR).band(confidence)


@pytest.mark.parametrize("times", [0, 2, 7])
def test_bins_are_joined_in_odd_numbers(times: int) -> None:
    with pytest.raises(InputError, match="odd number"):
        lift_like(lambda lags: lags, longest=5 * HOUR).coarser(times)
