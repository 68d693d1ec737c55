"""Batch: padding, and what each time access lets a query see."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.batch import Batch, TimeAccess, Window, collate, request_windows
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
    assert torch.equal(batch.query_time, batch.key_time)
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
    return Spans(np.array(users), np.array(starts), np.array(stops))


def test_windows_ask_for_the_event_after_the_span() -> None:
    test = spans([0, 1, 2], [0, 5, 7], [4, 6, 9])  # each user's last event is the target
    first, second, third = request_windows(histories(), test, np.arange(3), max_len=None)
    assert first.items.tolist() == [0, 1, 2, 3]
    assert first.times.tolist() == [0, 10, 20, 30]
    assert first.query_times.tolist() == [10, 20, 30, 40]  # the last is the target's own time
    assert (second.items.tolist(), second.times.tolist(), second.query_times.tolist()) == (
        [10],
        [1000],
        [1010],
    )
    assert third.query_times.tolist() == [2010, 2020]


def test_windows_keep_the_last_events_of_their_own_row() -> None:
    test = spans([0, 1, 2], [0, 5, 7], [4, 6, 9])
    third, first = request_windows(histories(), test, np.array([2, 0]), max_len=2)
    assert first.items.tolist() == [2, 3]
    assert first.query_times.tolist() == [30, 40]
    assert third.items.tolist() == [20, 21]
    (middle,) = request_windows(histories(), spans([0], [1], [3]), np.array([0]), max_len=9)
    assert middle.items.tolist() == [1, 2]  # a span that starts later is not reached behind
    assert middle.query_times.tolist() == [20, 30]
    (one,) = request_windows(histories(), test, np.array([0]), max_len=1)
    assert (one.items.tolist(), one.times.tolist(), one.query_times.tolist()) == ([3], [30], [40])


@settings(deadline=None)
@given(st.lists(st.integers(2, 8), min_size=1, max_size=6), st.integers(1, 9), st.randoms())
def test_times_never_cross_users(sizes: list[int], max_len: int, random: object) -> None:
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    users = np.repeat(np.arange(len(sizes)), sizes)
    times = users * 10**6 + np.arange(len(users))
    log = Histories(np.arange(len(users)), times, offsets, num_items=len(users))
    test = Spans(np.arange(len(sizes)), offsets[:-1], offsets[1:] - 1)
    for user, cut in enumerate(request_windows(log, test, np.arange(len(sizes)), max_len)):
        target = offsets[user + 1] - 1
        assert (cut.times // 10**6 == user).all()
        assert (cut.query_times // 10**6 == user).all()
        assert cut.query_times[-1] == times[target]
        np.testing.assert_array_equal(cut.query_times[:-1], cut.times[1:])
        np.testing.assert_array_equal(cut.items, np.arange(target - len(cut.items), target))
        assert len(cut.items) == min(max_len, sizes[user] - 1)


def test_to_another_device_keeps_what_is_absent() -> None:
    batch = collate(ROWS, TimeAccess.NONE).to("meta")
    assert batch.items.device.type == batch.lengths.device.type == "meta"
    assert batch.key_time is None
    assert isinstance(collate(ROWS, TimeAccess.REQUEST).to("cpu"), Batch)
