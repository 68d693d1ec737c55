"""Popularity before the request against plain Python; what comes after it may change and nothing is felt."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.batch import Batch, TimeAccess, Window, collate
from rota.errors import InputError
from rota.evaluation import ask
from rota.histories import Histories, Spans
from rota.models.popularity import Popularity
from rota.models.popularity_now import PopularityNow

ITEMS = 5
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def asked_at(*nows: int) -> Batch:
    """One row for each request, of different lengths, so that there is padding."""
    rows = [
        Window(np.zeros(size, np.int64), np.full(size, now - 1), np.array([now - 1] * (size - 1) + [now]))
        for size, now in enumerate(nows, start=1)
    ]
    return collate(rows, TimeAccess.REQUEST)


def slow(events: list[tuple[int, int]], now: int, window: int | None = None) -> list[int]:
    counts = [0] * ITEMS
    for item, time in events:
        if time < now and (window is None or time >= now - window):
            counts[item] += 1
    return counts


def model_of(events: list[tuple[int, int]], unit: str = "s", window: str | None = None) -> PopularityNow:
    items, times = np.array([item for item, _ in events]), np.array([time for _, time in events])
    return PopularityNow(items.astype(np.int64), times.astype(np.int64), ITEMS, unit, window)


CLOCK = st.integers(-20, 20)  # few instants, so that events tie with each other and with requests
EVENTS = st.lists(st.tuples(st.integers(0, ITEMS - 1), CLOCK), max_size=30)


@settings(max_examples=150)
@given(
    EVENTS,
    st.lists(CLOCK, min_size=1, max_size=6),
    st.sampled_from([None, 2, 5, 100]),
    st.sampled_from(list(TICKS)),
)
def test_equals_plain_python(
    events: list[tuple[int, int]], nows: list[int], window: int | None, unit: str
) -> None:
    ticks = TICKS[unit]
    model = model_of([(item, time * ticks) for item, time in events], unit, window and f"{window}s")
    found = model.scores(asked_at(*(now * ticks for now in nows)))
    assert found.dtype == torch.float64
    assert found.tolist() == [slow(events, now, window) for now in nows]


def test_the_tick_before_counts_and_the_requests_own_does_not() -> None:
    now = 1_700_000_000_123_456_789
    model = model_of(
        [(0, now - 1), (1, now), (2, now + 1), (3, now - 10**9), (4, now - 10**9 - 1)], "ns", "1s"
    )
    assert model.scores(asked_at(now)).tolist() == [[1, 0, 0, 1, 0]]


@pytest.mark.parametrize("window", [None, "2s", "7d"])
def test_the_ends_of_the_clock(window: str | None) -> None:
    first, last = -(2**63), 2**63 - 1
    model = model_of([(0, first), (1, first + 1), (2, 0), (3, last - 1), (4, last)], "s", window)
    late = [0, 0, 0, 1, 0] if window else [1, 1, 1, 1, 0]
    assert model.scores(asked_at(last, first + 2)).tolist() == [late, [1, 1, 0, 0, 0]]


def test_now_is_the_last_events_time_where_the_request_is_hidden() -> None:
    model = model_of([(0, 5), (1, 10), (2, 15)])
    row = Window(np.array([3, 4]), np.array([3, 10]), np.array([10, 20]))
    assert model.scores(collate([row], TimeAccess.HISTORY)).tolist() == [[1, 0, 0, 0, 0]]
    assert model.scores(collate([row], TimeAccess.REQUEST)).tolist() == [[1, 1, 1, 0, 0]]
    with pytest.raises(InputError, match="PopularityNow needs a clock"):
        model.scores(collate([row], TimeAccess.NONE))


def leave_one_out(times: np.ndarray, items: np.ndarray, users: int) -> tuple[Histories, Spans, Spans]:
    """Users of equally many events; the test asks for the last of each, all others may be counted."""
    offsets = np.arange(users + 1) * (len(items) // users)
    everyone = np.arange(users)
    histories = Histories(items, times, offsets, ITEMS)
    test = Spans(everyone, offsets[:-1], offsets[1:] - 1, offsets[1:])
    return histories, test, Spans(everyone, offsets[:-1], offsets[1:] - 1, offsets[1:] - 1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("seen", ["keep", "drop"])
def test_what_others_do_after_the_request_changes_no_rank(seed: int, seen: str) -> None:
    """Leave-one-out lets all but everybody's last be counted: what comes after a request is among them."""
    rng = np.random.default_rng(seed)
    users, size = 12, 8
    times = np.sort(rng.integers(-50, 50, (users, size)), axis=1)
    items = rng.integers(0, ITEMS, (users, size))
    histories, test, counted = leave_one_out(times.ravel(), items.ravel(), users)
    now, common = int(np.median(times[:, -1])), {"access": "request", "seen": seen}
    changed = np.where(times >= now, (items + 1) % ITEMS, items)
    changed[:, -1] = items[:, -1]  # the targets stay
    other = Histories(changed.ravel(), histories.times, histories.offsets, ITEMS)
    # Asked are those who request by then, whose own histories are before it.
    early = np.flatnonzero((times[:, -1] <= now) & (times[:, -2] < now))
    asked = Spans(*(column[early] for column in test))
    before, after = (
        ask(PopularityNow.fitted(each, counted), each, asked, **common)  # type: ignore[arg-type]
        for each in (histories, other)
    )
    assert len(early) > 2
    assert before.tolist() == after.tolist()
    blind = [Popularity.fitted(each, counted).counts.tolist() for each in (histories, other)]
    assert blind[0] != blind[1]  # the example can tell: popularity does count what comes after
    slow_ranks = []
    for user in early:
        rows = [
            (int(items[other_user, place]), int(times[other_user, place]))
            for other_user in range(users)
            for place in range(size - 1)
        ]
        scores, target = slow(rows, int(times[user, -1])), int(items[user, -1])
        left = [i for i in range(ITEMS) if seen == "keep" or i not in items[user, :-1]]
        slow_ranks.append(sum(scores[i] >= scores[target] for i in left) if target in left else 0)
    assert before.tolist() == slow_ranks


def test_rows_that_may_not_be_counted_are_not() -> None:
    histories, _, _ = leave_one_out(np.arange(8), np.array([0, 1, 2, 3, 1, 1, 4, 4]), 2)
    counted = Spans(np.array([0, 1]), np.array([1, 4]), np.array([2, 6]), np.array([2, 6]))
    model = PopularityNow.fitted(histories, counted)
    assert model.items.tolist() == [1, 1, 1]
    assert model.scores(asked_at(100)).tolist() == [[0, 3, 0, 0, 0]]
    assert Popularity.fitted(histories, counted).counts.tolist() == [0, 3, 0, 0, 0]
    nothing = PopularityNow.fitted(histories, Spans(*(column[:0] for column in counted)))
    assert nothing.scores(asked_at(100, 3)).tolist() == [[0] * ITEMS] * 2


def test_the_events_are_its_own_and_batch_mates_do_not_matter() -> None:
    items, times = np.array([2, 0, 1]), np.array([30, 10, 20])
    model = PopularityNow(items, times, ITEMS)
    items[:], times[:] = 4, 0
    assert (model.items.tolist(), model.times.tolist()) == ([0, 1, 2], [10, 20, 30])
    with pytest.raises(ValueError, match="read-only"):
        model.times[0] = 99
    together = model.scores(asked_at(25, 100, 5, 25))
    alone = [model.scores(asked_at(now))[0].tolist() for now in (25, 100, 5, 25)]
    assert together.tolist() == alone


def test_refusals() -> None:
    one = np.array([0])
    with pytest.raises(InputError, match="item codes 0 to 7: expected 0 to 4"):
        PopularityNow(np.array([0, 7]), np.array([1, 2]), ITEMS)
    with pytest.raises(InputError, match=r"items of shape \(1,\) and times of shape \(2,\)"):
        PopularityNow(one, np.array([1, 2]), ITEMS)
    with pytest.raises(InputError, match=r"window of popularity: .* use a finer unit"):
        PopularityNow(one, one, ITEMS, "s", "0.5s")
    with pytest.raises(InputError, match="window of popularity: duration 'soon'"):
        PopularityNow(one, one, ITEMS, "s", "soon")
    with pytest.raises(InputError, match="time unit 'h'"):
        PopularityNow(one, one, ITEMS, "h")
