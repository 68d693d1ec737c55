"""Batch: padding, and what each time access lets a query see."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.batch import Batch, TimeAccess, Window, collate, request_batch, row_batch
from rota.errors import InputError
from rota.histories import Histories, Spans


def window(items: list[int], times: list[int], asked: list[int]) -> Window:
    return Window(np.array(items), np.array(times), np.array(asked))


ROWS = [
    window([5, 6, 7], [10, 20, 30], [20, 30, 45]),
    window([8], [100], [111]),
    window([1, 2], [-7, 0], [0, 9]),
]


def test_padding_by_hand() -> None:
    batch = collate(ROWS, TimeAccess.REQUEST)
    assert batch.items.tolist() == [[5, 6, 7], [8, 0, 0], [1, 2, 0]]
    assert batch.key_time.tolist() == [[10, 20, 30], [100, 100, 100], [-7, 0, 0]]
    assert batch.query_time.tolist() == [[20, 30, 45], [111, 111, 111], [0, 9, 9]]
    assert batch.lengths.tolist() == [3, 1, 2]
    assert batch.mask.tolist() == [[True, True, True], [True, False, False], [True, True, False]]
    for tensor in (batch.items, batch.key_time, batch.query_time, batch.lengths):
        assert tensor.dtype == torch.int64


def test_history_asks_at_each_events_own_time() -> None:
    batch = collate(ROWS, TimeAccess.HISTORY)
    assert batch.query_time is batch.key_time  # by which a rotation sees that their phases are the same
    assert batch.key_time.tolist() == [[10, 20, 30], [100, 100, 100], [-7, 0, 0]]


def test_none_has_no_clock_at_all() -> None:
    batch = collate(ROWS, TimeAccess.NONE)
    assert batch.key_time is None
    assert batch.query_time is None
    assert batch.items.tolist() == [[5, 6, 7], [8, 0, 0], [1, 2, 0]]


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 99), st.integers(-(2**60), 2**60)), min_size=1, max_size=9),
        min_size=1,
    ),
    st.sampled_from(list(TimeAccess)),
)
def test_rows_do_not_see_their_batch_mates(rows: list[list[tuple[int, int]]], access: TimeAccess) -> None:
    windows = [window([i for i, _ in row], [t for _, t in row], [t + 1 for _, t in row]) for row in rows]
    together = collate(windows, access)
    for row, alone in enumerate(collate([w], access) for w in windows):
        n = int(alone.lengths[0])
        assert together.lengths[row] == n
        assert torch.equal(together.items[row, :n], alone.items[0])
        assert together.items[row, n:].eq(0).all()
        if access == TimeAccess.NONE:
            continue
        for padded, own in ((together.key_time, alone.key_time), (together.query_time, alone.query_time)):
            assert torch.equal(padded[row, :n], own[0])
            assert padded[row, n:].eq(own[0, -1]).all()


@pytest.mark.parametrize("name", ["none", "history", "request"])
def test_the_switch_is_read(name: str) -> None:
    assert TimeAccess.parse(name) == name
    assert TimeAccess.parse(name) is TimeAccess(name)


@pytest.mark.parametrize("name", ["", "None", "all", "request "])
def test_another_switch_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"time access .*: expected one of none, history, request"):
        TimeAccess.parse(name)


def histories() -> Histories:
    """Three users of 5, 2 and 3 events; user u's event i is item 10 u + i at 1000 u + 10 i."""
    sizes = [5, 2, 3]
    items = [10 * u + i for u, n in enumerate(sizes) for i in range(n)]
    times = [1000 * u + 10 * i for u, n in enumerate(sizes) for i in range(n)]
    return Histories(np.array(items), np.array(times), np.array([0, 5, 7, 10]), num_items=40)


def spans(users: list[int], starts: list[int], stops: list[int]) -> Spans:
    return Spans(np.array(users), np.array(starts), np.array(stops), np.array(stops) + 1)


def test_a_request_asks_for_the_event_after_the_span() -> None:
    test = spans([0, 1, 2], [0, 5, 7], [4, 6, 9])  # each user's last event is the target
    batch = request_batch(histories(), test, np.arange(3), None, TimeAccess.REQUEST)
    assert batch.items.tolist() == [[0, 1, 2, 3], [10, 0, 0, 0], [20, 21, 0, 0]]
    assert batch.key_time.tolist() == [[0, 10, 20, 30], [1000] * 4, [2000, 2010, 2010, 2010]]
    assert batch.query_time.tolist() == [[10, 20, 30, 40], [1010] * 4, [2010, 2020, 2020, 2020]]
    assert batch.lengths.tolist() == [4, 1, 2]
    assert request_batch(histories(), test, np.arange(3), None, "none").key_time is None


def test_a_set_of_positives_is_asked_for_at_the_time_of_the_first() -> None:
    whole_rest = Spans(np.array([0]), np.array([0]), np.array([2]), np.array([5]))
    batch = request_batch(histories(), whole_rest, np.array([0]), None, TimeAccess.REQUEST)
    assert batch.items.tolist() == [[0, 1]]
    assert batch.query_time.tolist() == [[10, 20]]


def test_a_request_shows_the_last_events_of_its_own_span() -> None:
    test = spans([0, 1, 2], [0, 5, 7], [4, 6, 9])
    batch = request_batch(histories(), test, np.array([2, 0]), 2, TimeAccess.REQUEST)
    assert batch.items.tolist() == [[20, 21], [2, 3]]
    assert batch.query_time.tolist() == [[2010, 2020], [30, 40]]
    middle = request_batch(histories(), spans([0], [1], [3]), np.array([0]), 9, TimeAccess.REQUEST)
    assert middle.items.tolist() == [[1, 2]]  # a span that starts later is not reached behind
    assert middle.query_time.tolist() == [[20, 30]]
    one = request_batch(histories(), test, np.array([0]), 1, TimeAccess.REQUEST)
    assert (one.items.tolist(), one.key_time.tolist(), one.query_time.tolist()) == ([[3]], [[30]], [[40]])


@given(st.lists(st.integers(2, 8), min_size=1, max_size=6), st.integers(1, 9), st.sampled_from(TimeAccess))
def test_rows_make_the_batch_that_their_windows_make(
    sizes: list[int], max_len: int, access: TimeAccess
) -> None:
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    times = np.repeat(np.arange(len(sizes)), sizes) * 10**6 + np.arange(offsets[-1])
    log = Histories(np.arange(len(times)) + 1, times, offsets, num_items=len(times) + 1)
    starts = np.maximum(offsets[:-1], offsets[1:] - 1 - max_len)
    stops = offsets[1:] - 1
    cuts = [
        Window(log.items[a:b], times[a:b], times[a + 1 : b + 1]) for a, b in zip(starts, stops, strict=True)
    ]
    found, expected = row_batch(log, starts, stops, access), collate(cuts, access)
    for ours, theirs in zip(vars(found).values(), vars(expected).values(), strict=True):
        assert ours is theirs is None or torch.equal(ours, theirs)


def test_to_another_device_keeps_what_is_absent() -> None:
    batch = collate(ROWS, TimeAccess.NONE).to("meta")
    assert batch.items.device.type == batch.lengths.device.type == "meta"
    assert batch.key_time is None
    assert isinstance(collate(ROWS, TimeAccess.REQUEST).to("cpu"), Batch)


def test_what_is_one_tensor_stays_one() -> None:
    histories = Histories(np.array([5, 6, 7]), np.array([10, 20, 30]), np.array([0, 3]), num_items=8)
    starts, stops = np.array([0]), np.array([2])
    for batch in (row_batch(histories, starts, stops, "history"), collate(ROWS, "history")):
        for moved in (batch, batch.to("cpu"), batch.to("meta")):
            assert moved.query_time is moved.key_time
            assert moved.query_time is not None
    for batch in (row_batch(histories, starts, stops, "request"), collate(ROWS, "request")):
        moved = batch.to("meta")
        assert moved.query_time is not moved.key_time
        assert moved.key_time is not None
    moved = collate(ROWS, "none").to("meta")
    assert moved.query_time is None
    assert moved.key_time is None
