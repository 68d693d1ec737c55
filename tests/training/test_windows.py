"""Windows: every target once, nothing beyond the span, order as a function of seed and epoch."""

from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.batch import TimeAccess
from rota.errors import InputError
from rota.histories import Histories, Spans
from rota.training.order import EpochOrder
from rota.training.windows import TrainingWindows


def make(lengths: list[int]) -> tuple[Histories, Spans]:
    """Item of row r is r, its time 10 r, so that what a window holds tells where it came from."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = np.arange(offsets[-1], dtype=np.int64)
    histories = Histories(rows, 10 * rows, offsets, max(len(rows), 1))
    return histories, Spans(np.arange(len(lengths)), offsets[:-1], offsets[1:] - 2, offsets[1:] - 2)


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
        assert lesson.asked.tolist() == mask.flatten().nonzero()[:, 0].tolist()
        inputs, targets = lesson.batch.items.flatten()[lesson.asked], lesson.targets
        assert (targets == inputs + 1).all()
        assert lesson.batch.query_time is not None
        assert (lesson.batch.query_time[mask] == 10 * targets).all()
        found += targets.tolist()
        each = [len(windows.collate([index]).targets) for index in indices]
        assert windows.num_targets(indices).tolist() == each
    assert windows.counts.tolist() == [wanted.count(item) for item in range(histories.num_items)]
    assert sorted(found) == wanted


def test_windows_are_cut_from_the_end() -> None:
    histories, spans = make([12])
    windows = TrainingWindows(histories, spans, 4, TimeAccess.NONE)
    assert list(zip(windows.starts.tolist(), windows.lengths.tolist(), strict=True)) == [
        (5, 4),
        (1, 4),
        (0, 1),
    ]
    assert windows.collate([0]).batch.key_time is None


BASKETS = st.lists(st.lists(st.integers(1, 4), min_size=2, max_size=9), min_size=1, max_size=5)


def baskets(sizes: list[list[int]]) -> tuple[Histories, Spans, np.ndarray]:
    """Users' baskets of these sizes, each user's first at the instant of the last of the user before.

    Row r is item r; models see a clock that tells nothing.
    """
    firsts = np.cumsum([0, *(len(own) - 1 for own in sizes)])
    instants = np.concatenate(
        [first + np.repeat(np.arange(len(own)), own) for first, own in zip(firsts, sizes, strict=False)]
    ).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum([sum(own) for own in sizes])]).astype(np.int64)
    rows = np.arange(offsets[-1], dtype=np.int64)
    stops = offsets[1:] - np.array([own[-1] for own in sizes])  # the last basket is not for training
    histories = Histories(rows, np.zeros_like(rows), offsets, len(rows))
    return histories, Spans(np.arange(len(sizes)), offsets[:-1], stops, stops), instants


@given(BASKETS, st.integers(1, 12), st.integers(1, 5), st.booleans())
def test_without_an_order_each_event_is_learnt_from_the_instants_before_it(
    sizes: list[list[int]], max_len: int, batch_size: int, whole: bool
) -> None:
    histories, spans, instants = baskets(sizes)
    if whole:  # up to the next user's first instant, which is the same
        spans = spans._replace(stops=histories.offsets[1:])
    owner = np.repeat(np.arange(len(sizes)), [sum(own) for own in sizes])
    wanted = [
        (int(np.flatnonzero((owner == owner[row]) & (instants < instants[row]))[-1]), row)
        for a, b in zip(spans.starts, spans.stops, strict=True)
        for row in range(a, b)
        if instants[row] > instants[a]
    ]
    if not wanted:
        with pytest.raises(InputError, match="no training target"):
            TrainingWindows(histories, spans, max_len, TimeAccess.NONE, instants)
        return
    windows = TrainingWindows(histories, spans, max_len, TimeAccess.REQUEST, instants)
    assert windows.lengths.max() <= max_len
    found = []
    for indices in EpochOrder(windows.lengths, batch_size, seed=0):
        lesson = windows.collate(indices)
        assert lesson.batch.mask.flatten()[lesson.asked].all()
        found += zip(
            lesson.batch.items.flatten()[lesson.asked].tolist(), lesson.targets.tolist(), strict=True
        )
        each = [len(windows.collate([index]).targets) for index in indices]
        assert all(each)  # a batch with nothing to learn has no loss
        assert windows.num_targets(indices).tolist() == each
    assert sorted(found) == sorted(wanted)


@given(BASKETS, st.integers(1, 12))
def test_without_ties_the_rule_of_ties_changes_nothing(sizes: list[list[int]], max_len: int) -> None:
    histories, spans, _ = baskets([[1] * (len(own) + 2) for own in sizes])
    instants = np.arange(len(histories.items))
    plain = TrainingWindows(histories, spans, max_len, TimeAccess.REQUEST)
    other = TrainingWindows(histories, spans, max_len, TimeAccess.REQUEST, instants)
    assert plain.starts.tolist() == other.starts.tolist()
    assert plain.lengths.tolist() == other.lengths.tolist()
    one, two = (windows.collate(list(range(len(plain)))) for windows in (plain, other))
    assert one.asked.equal(two.asked)
    assert one.targets.equal(two.targets)


def test_a_span_that_cuts_an_instant_is_refused() -> None:
    histories, spans, instants = baskets([[1, 3, 1]])
    cut = spans._replace(stops=spans.stops - 1)
    with pytest.raises(InputError, match="span 0 ends within an instant"):
        TrainingWindows(histories, cut, 4, TimeAccess.NONE, instants)


def test_a_training_batch_moves_whole() -> None:
    histories, spans = make([12])
    lesson = TrainingWindows(histories, spans, 4, TimeAccess.REQUEST).collate([0]).to("meta")
    assert {lesson.asked.device.type, lesson.targets.device.type, lesson.batch.items.device.type} == {"meta"}


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


def share(lengths: np.ndarray, batch_size: int, epoch: int = 0) -> float:
    """Of the positions of an epoch, padding included, those that hold an event."""
    order = EpochOrder(lengths, batch_size, 0)
    order.set_epoch(epoch)
    return float(lengths.sum() / sum(lengths[batch].max() * len(batch) for batch in order))


@given(st.integers(0, 2**32), st.integers(8, 40), st.sampled_from([20, 50, 200]), st.floats(0.3, 2.0))
def test_nine_positions_of_ten_hold_an_event(seed: int, batch_size: int, max_len: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    lengths = np.minimum(1 + rng.lognormal(3.5, spread, 60 * batch_size).astype(np.int64), max_len)
    assert np.mean([share(lengths, batch_size, epoch) for epoch in range(4)]) > 0.89


def test_nothing_is_sorted_that_need_not_be() -> None:
    rng = np.random.default_rng(0)
    alike, spread = rng.integers(95, 101, 400), rng.integers(1, 101, 400)
    assert EpochOrder(alike, 10, 0).run == 1
    assert any(np.diff(alike[batch]).min() < 0 for batch in EpochOrder(alike, 10, 0))
    assert 8 < EpochOrder(spread, 10, 0).run < 16
    assert EpochOrder(rng.integers(1, 101, 16), 8, 0).run == 2  # there are no more batches


@pytest.mark.data
@pytest.mark.parametrize("log", ["fsq_nyc", "complete_journey"])
@pytest.mark.parametrize("max_len", [50, 100, 200])
def test_on_real_logs_too(shared_data: Path, log: str, max_len: int) -> None:
    users = pyarrow.parquet.read_table(shared_data / f"{log}.parquet", columns=["user_id"]).column(0)
    spans = np.unique(users.to_numpy(), return_counts=True)[1]
    histories, own = make([int(events) for events in spans if events > 4])
    windows = TrainingWindows(histories, own, max_len, TimeAccess.NONE)
    assert min(share(windows.lengths, batch_size) for batch_size in (24, 64, 128)) > 0.9


def test_histories_without_a_target_are_refused() -> None:
    histories, spans = make([3, 3])
    with pytest.raises(InputError, match="no training target"):
        TrainingWindows(histories, spans, 4, TimeAccess.NONE)
