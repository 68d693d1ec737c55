"""The protocol against a loop over users, and what it hides from a model."""

import subprocess
import sys
from itertools import pairwise

import ir_measures
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rota.batch import Batch, TimeAccess
from rota.errors import InputError
from rota.evaluation import MRR, Positives, Recall, SeenItems, ask, mean_of, metric
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


@pytest.mark.parametrize("seen", SeenItems)
def test_figures_equal_trec_evals_on_random_scores(seen: SeenItems) -> None:
    """From scores to figures, by ir-measures over trec_eval, which is given the candidates alone."""
    histories, spans = log(seed=3, users=40, most=4)
    table = np.random.default_rng(3).permuted(np.tile(np.arange(ITEMS), (40, 1)), axis=1)  # no ties

    class Random(Written):
        def scores(self, batch: Batch) -> Tensor:
            own = [int(batch.query_time[row, length - 1]) for row, length in enumerate(batch.lengths)]  # type: ignore[index]
            return torch.tensor(np.stack([table[np.searchsorted(nows, now)] for now in own])).double()

    nows = histories.times[
        spans.stops
    ]  # these name the user: the clock of the example goes on from one to the next
    ranks = ask(Random(), histories, spans, access=TimeAccess.REQUEST, seen=seen)
    truth, answer = {}, {}
    for user, (start, stop, end) in enumerate(zip(spans.starts, spans.stops, spans.ends, strict=True)):
        shut = set(histories.items[start:stop].tolist()) if seen == SeenItems.DROP else set()
        truth[str(user)] = {str(item): 1 for item in histories.items[stop:end]}
        answer[str(user)] = {str(i): float(table[user, i]) for i in range(ITEMS) if i not in shut} or {
            "x": 0.0
        }
    measures = {
        "HR@3": ir_measures.Success @ 3, "Recall@2": ir_measures.R @ 2, "NDCG@4": ir_measures.nDCG @ 4,
        "MRR": ir_measures.RR, "MAP": ir_measures.AP, "MAP@2": ir_measures.AP @ 2,
    }  # fmt: skip
    expected = ir_measures.calc_aggregate(measures.values(), truth, answer)
    for name, measure in measures.items():
        assert mean_of(metric(name), ranks, histories, spans) == pytest.approx(expected[measure], rel=1e-9)


def test_a_question_without_a_positive_is_left_out_of_the_mean() -> None:
    histories = Histories(np.arange(8), np.arange(8), np.array([0, 5, 8]), 8)
    spans = Spans(np.array([0, 0, 1]), np.array([0, 0, 5]), np.array([1, 2, 6]), np.array([2, 2, 6]))
    assert mean_of(MRR(), np.array([4]), histories, spans) == 1 / 4
    nobody = Spans(*(column[1:] for column in spans))
    assert np.isnan(mean_of(MRR(), np.zeros(0, np.int64), histories, nobody))


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


@pytest.mark.parametrize(("scores", "rows"), [(40, 4), (ITEMS, 1), (5, 1), (10**6, 25)])
def test_a_large_catalogue_shrinks_the_batch(monkeypatch: pytest.MonkeyPatch, scores: int, rows: int) -> None:
    monkeypatch.setattr("rota.evaluation.protocol._SCORES", scores)
    model, (histories, spans) = Written(), log(most=4)
    ranks = ask(model, histories, spans, access=TimeAccess.REQUEST, seen=SeenItems.DROP)
    assert max(len(batch.lengths) for batch in model.batches) == rows
    assert ranks.tolist() == slow_ranks(histories, spans, TimeAccess.REQUEST, SeenItems.DROP, None)


@pytest.mark.slow
@pytest.mark.parametrize("seen", SeenItems)
def test_a_million_items_take_no_more_memory_than_is_stated(seen: SeenItems) -> None:
    """Forty questions, of three targets each; peak memory of a process that does nothing else."""
    million, users, batch = 10**6, 40, 2**25 * 8
    program = f"""
from pathlib import Path
import numpy as np, torch
from rota.evaluation import SeenItems, ask
from rota.histories import Histories, Spans
from rota.models.base import Scorer

def peak():  # KiB; getrusage would count what the parent process had
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])

class Byte(Scorer):
    max_len, needs_clock, most = None, False, 0
    def scores(self, batch):
        self.most = max(self.most, len(batch.lengths))
        return torch.arange({million}, dtype=torch.float64).repeat(len(batch.lengths), 1)

offsets = np.arange({users + 1}) * 5
items = np.tile(np.array([0, 999_999, 7, 999_998, 0]), {users})
histories = Histories(items, np.arange(len(items)), offsets, {million})
spans = Spans(np.arange({users}), offsets[:-1], offsets[:-1] + 2, offsets[1:])
model = Byte()
ask(model, Histories(items[:5], np.arange(5), offsets[:2], {million}), Spans(*(s[:1] for s in spans)),
    access="none", seen="keep")
before = peak()
model.most = 0
ranks = ask(model, histories, spans, access="none", seen="{seen}")
used = (peak() - before) * 1024
print(model.most, used, *np.unique(ranks.reshape(-1, 3), axis=0).ravel())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    most, used, *ranks = map(int, done.stdout.split())
    assert most == 33
    assert ranks == ([999_993, 2, 10**6] if seen == SeenItems.KEEP else [999_992, 1, 0])
    assert 8 * million * most * 0.9 < used < 4 * batch


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
