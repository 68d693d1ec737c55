"""The protocol against a loop over users, and what it hides from a model."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rota.batch import Batch, TimeAccess
from rota.errors import InputError
from rota.evaluation import MRR, Positives, Recall, SeenItems, ask, mean_of
from rota.histories import Histories, Spans
from rota.models.base import Scorer

ITEMS = 9


def log(seed: int = 0, users: int = 25, most: int = 1) -> tuple[Histories, Spans]:
    """Random histories of 3 to 12 events, and up to ``most`` to be asked for. Odd users' first is hidden."""
    rng = np.random.default_rng(seed)
    asked = rng.integers(1, most + 1, users)
    sizes = rng.integers(3, 13, users) + asked - 1
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    events = int(offsets[-1])
    histories = Histories(
        rng.integers(0, ITEMS, events), np.cumsum(rng.integers(1, 99, events)), offsets, ITEMS
    )
    stops = offsets[1:] - asked
    spans = Spans(np.arange(users), offsets[:-1] + np.arange(users) % 2, stops, offsets[1:])
    return histories, spans


class Written(Scorer):
    """Scores from all that the batch says of a row, so that any slip in it moves a rank."""

    needs_clock = False

    def __init__(self, max_len: int | None = None, items: int = ITEMS) -> None:
        self.max_len = max_len
        self.items = items
        self.batches: list[Batch] = []

    def scores(self, batch: Batch) -> Tensor:
        self.batches.append(batch)
        table = torch.zeros(len(batch.lengths), self.items, dtype=torch.float64)
        for row, length in enumerate(batch.lengths.tolist()):
            query = 0 if batch.query_time is None else int(batch.query_time[row, length - 1])
            table[row] = written(batch.items[row, :length].tolist(), query, self.items)
        return table


def written(items: list[int], query: int, count: int = ITEMS) -> Tensor:
    code = query + sum((place + 1) * (item + 1) for place, item in enumerate(items))
    return torch.tensor([(code * (3 + item) + item) % 5 for item in range(count)], dtype=torch.float64)


def slow_ranks(
    histories: Histories, spans: Spans, access: TimeAccess, seen: SeenItems, max_len: int | None
) -> list[int]:
    ranks = []
    for start, stop, end in zip(spans.starts, spans.stops, spans.ends, strict=True):
        visible = histories.items[start:stop].tolist()
        window = visible if max_len is None else visible[-max_len:]
        query = {"none": 0, "history": histories.times[stop - 1], "request": histories.times[stop]}[access]
        scores = written(window, int(query)).tolist()
        left = [i for i in range(ITEMS) if seen == SeenItems.KEEP or i not in visible]
        for target in dict.fromkeys(histories.items[stop:end].tolist()):  # each item once
            ranks.append(sum(scores[i] >= scores[target] for i in left) if target in left else 0)
    return ranks


@pytest.mark.parametrize("access", TimeAccess)
@pytest.mark.parametrize("seen", SeenItems)
@pytest.mark.parametrize("max_len", [None, 3])
@pytest.mark.parametrize("batch_size", [1, 4, 256])
@pytest.mark.parametrize("most", [1, 6])
def test_equals_a_loop_over_users(
    access: TimeAccess, seen: SeenItems, max_len: int | None, batch_size: int, most: int
) -> None:
    histories, spans = log(most=most)
    ranks = ask(Written(max_len), histories, spans, access=access, seen=seen, batch_size=batch_size)
    assert ranks.dtype == np.int64
    assert ranks.tolist() == slow_ranks(histories, spans, access, seen, max_len)
    assert (0 in ranks) == (seen == SeenItems.DROP)  # the example has targets of both kinds


def test_drop_removes_what_the_window_no_longer_shows() -> None:
    histories = Histories(np.array([2, 0, 1, 3]), np.array([1, 2, 3, 4]), np.array([0, 4]), 4)
    spans = Spans(np.array([0]), np.array([0]), np.array([3]), np.array([4]))

    class Constant(Written):
        def scores(self, batch: Batch) -> Tensor:
            return torch.tensor([[0.0, 0.0, 9.0, 1.0]]).expand(len(batch.lengths), -1)

    asked = [ask(Constant(1), histories, spans, access=TimeAccess.NONE, seen=seen)[0] for seen in SeenItems]
    assert asked == [2, 1]


def test_positives_are_a_set_each() -> None:
    items = np.array([7, 3, 3, 5, 7, 3, 3, 7, 7, 5])  # two users; the second is asked for the rest
    histories = Histories(items, np.arange(10), np.array([0, 3, 10]), 8)
    spans = Spans(np.array([0, 1, 1]), np.array([0, 3, 3]), np.array([1, 5, 4]), np.array([3, 10, 5]))
    rows, offsets = Positives.of(histories, spans)
    assert rows.tolist() == [1, 5, 7, 9, 4]
    assert offsets.tolist() == [0, 1, 4, 5]
    ranks = ask(Written(items=8), histories, spans, access=TimeAccess.REQUEST, seen=SeenItems.KEEP)
    scores = written([5, 7], 5, 8).tolist()  # asked at the time of the first, row 5
    assert ranks[1:4].tolist() == [sum(score >= scores[item] for score in scores) for item in (3, 7, 5)]


def test_figures_are_means_over_users() -> None:
    """A user who is asked three times counts as much as one who is asked once."""
    histories = Histories(np.arange(8), np.arange(8), np.array([0, 5, 8]), 8)
    spans = Spans(
        np.array([0, 0, 0, 1]), np.array([0, 0, 0, 5]), np.array([1, 2, 3, 6]), np.array([2, 3, 5, 8])
    )
    assert Positives.of(histories, spans).offsets.tolist() == [0, 1, 2, 4, 6]
    ranks = np.array([1, 2, 4, 9, 5, 0])
    assert mean_of(MRR(), ranks, histories, spans) == pytest.approx(((1 + 1 / 2 + 1 / 4) / 3 + 1 / 5) / 2)
    assert mean_of(Recall(5), ranks, histories, spans) == pytest.approx(((1 + 1 + 1 / 2) / 3 + 1 / 2) / 2)


def test_rows_of_similar_length_share_a_batch() -> None:
    model, (histories, spans) = Written(), log(users=40)
    told: list[int] = []
    ask(
        model,
        histories,
        spans,
        access=TimeAccess.NONE,
        seen=SeenItems.KEEP,
        batch_size=8,
        advance=told.append,
    )
    assert told == [8] * 5
    lengths = [batch.lengths.tolist() for batch in model.batches]
    assert all(min(early) >= max(late) for early, late in pairwise(lengths))


def test_very_long_histories_shrink_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rota.evaluation.protocol._EVENTS", 20)
    model, (histories, spans) = Written(), log()
    ranks = ask(model, histories, spans, access=TimeAccess.REQUEST, seen=SeenItems.KEEP)
    assert max(batch.items.numel() for batch in model.batches) <= 20
    assert ranks.tolist() == slow_ranks(histories, spans, TimeAccess.REQUEST, SeenItems.KEEP, None)


class Network(nn.Module, Scorer):
    max_len = 4
    needs_clock = True

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(ITEMS, ITEMS)
        self.frozen = nn.Dropout(0.5).eval()
        self.dropout = nn.Dropout(0.5)
        self.answered: list[tuple[bool, bool, bool]] = []

    def scores(self, batch: Batch) -> Tensor:
        scores = self.dropout(self.table(batch.items[:, 0]))
        self.answered.append((self.training, self.dropout.training, scores.requires_grad))
        return scores


def test_a_network_answers_in_eval_mode_and_returns_as_it_came() -> None:
    model, (histories, spans) = Network().train(), log()
    model.frozen.eval()
    ask(model, histories, spans, access=TimeAccess.HISTORY, seen=SeenItems.KEEP)
    assert set(model.answered) == {(False, False, False)}
    assert (model.training, model.dropout.training, model.frozen.training) == (True, True, False)


def test_the_mode_is_restored_after_an_error() -> None:
    model, (histories, spans) = Network().train(), log()
    nn.init.constant_(model.table.weight, torch.nan)
    with pytest.raises(InputError, match="NaN"):
        ask(model, histories, spans, access=TimeAccess.HISTORY, seen=SeenItems.KEEP)
    assert model.training


def test_a_clock_is_not_lent_under_none() -> None:
    histories, spans = log()
    with pytest.raises(InputError, match="Network needs a clock and time access is none"):
        ask(Network(), histories, spans, access=TimeAccess.NONE, seen=SeenItems.KEEP)
    blind = Written()
    ask(blind, histories, spans, access=TimeAccess.NONE, seen=SeenItems.KEEP)
    assert all(batch.key_time is None and batch.query_time is None for batch in blind.batches)


def test_plain_strings_are_read_and_unknown_ones_refused() -> None:
    histories, spans = log()
    ranks = ask(Written(), histories, spans, access="history", seen="drop")
    assert ranks.tolist() == slow_ranks(histories, spans, TimeAccess.HISTORY, SeenItems.DROP, None)
    with pytest.raises(InputError, match="time access 'History': expected one of none, history, request"):
        ask(Written(), histories, spans, access="History", seen="drop")
    with pytest.raises(InputError, match="seen items 'Keep': expected one of keep, drop"):
        ask(Written(), histories, spans, access="history", seen="Keep")


def test_a_model_of_another_catalogue_is_refused() -> None:
    histories, spans = log()
    with pytest.raises(InputError, match="scores 8 items: expected the whole catalogue of 9"):
        ask(Written(items=8), histories, spans, access=TimeAccess.NONE, seen=SeenItems.KEEP)


@pytest.mark.parametrize(("start", "stop", "end"), [(0, 4, 5), (2, 2, 3), (0, 8, 9), (-1, 2, 3), (0, 2, 2)])
def test_spans_without_history_or_target_are_refused(start: int, stop: int, end: int) -> None:
    histories = Histories(np.zeros(8, np.int64), np.arange(8), np.array([0, 4, 8]), 1)
    spans = Spans(np.array([0]), np.array([start]), np.array([stop]), np.array([end]))
    with pytest.raises(InputError, match="user 0, rows"):
        ask(Written(items=1), histories, spans, access=TimeAccess.NONE, seen=SeenItems.KEEP)


def test_seen_items_are_kept_or_dropped_and_nothing_else() -> None:
    assert SeenItems.parse("drop") is SeenItems.DROP
    with pytest.raises(InputError, match="'hide': expected one of keep, drop"):
        SeenItems.parse("hide")
