"""Windows: every target once, nothing beyond the span, order as a function of seed and epoch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.batch import TimeAccess
from rota.errors import InputError
from rota.histories import Histories, Spans
from rota.training.windows import EpochOrder, TrainingWindows


def make(lengths: list[int]) -> tuple[Histories, Spans]:
    """Item of row r is r, its time 10 r, so that what a window holds tells where it came from."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = np.arange(offsets[-1], dtype=np.int64)
    histories = Histories(rows, 10 * rows, offsets, max(len(rows), 1))
    return histories, Spans(np.arange(len(lengths)), offsets[:-1], offsets[1:] - 2)


@given(st.lists(st.integers(4, 40), min_size=1, max_size=6), st.integers(1, 12), st.integers(1, 5))
def test_every_target_is_learnt_from_once_and_none_is_from_beyond_the_span(
    lengths: list[int], max_len: int, batch_size: int
) -> None:
    histories, spans = make(lengths)
    windows = TrainingWindows(histories, spans, max_len, TimeAccess.REQUEST)
    wanted = [row for a, b in zip(spans.starts, spans.stops, strict=True) for row in range(a + 1, b)]
    found = []
    for indices in EpochOrder(windows.lengths, batch_size, seed=0):
        lesson = windows.collate(indices)
        mask = lesson.batch.mask
        assert lesson.batch.items.shape[1] <= max_len
        inputs, targets = lesson.batch.items[mask], lesson.targets[mask]
        assert (targets == inputs + 1).all()
        assert lesson.batch.query_time is not None
        assert (lesson.batch.query_time[mask] == 10 * targets).all()
        found += targets.tolist()
    assert sorted(found) == wanted


def test_windows_are_cut_from_the_end() -> None:
    histories, spans = make([12])
    windows = TrainingWindows(histories, spans, 4, TimeAccess.NONE)
    assert sorted(zip(windows.starts.tolist(), windows.lengths.tolist(), strict=True)) == [
        (0, 1),
        (1, 4),
        (5, 4),
    ]
    assert windows.collate([0]).batch.key_time is None


def test_order_is_a_function_of_seed_and_epoch() -> None:
    lengths = np.arange(1, 200)

    def epoch(seed: int, number: int) -> list[list[int]]:
        order = EpochOrder(lengths, 8, seed)
        order.set_epoch(number)
        assert len(list(order)) == len(order)
        return list(order)

    assert epoch(1, 2) == epoch(1, 2)
    assert epoch(1, 2) != epoch(1, 3)
    assert epoch(1, 2) != epoch(2, 2)
    assert sorted(index for batch in epoch(1, 2) for index in batch) == list(range(199))


def test_like_lengths_lie_together() -> None:
    lengths = np.random.default_rng(0).integers(1, 100, 1600)
    widest = [lengths[batch].max() * len(batch) for batch in EpochOrder(lengths, 16, 0)]
    assert lengths.sum() / sum(widest) > 0.85


def test_histories_without_a_target_are_refused() -> None:
    histories, spans = make([3, 3])
    with pytest.raises(InputError, match="no training target"):
        TrainingWindows(histories, spans, 4, TimeAccess.NONE)
