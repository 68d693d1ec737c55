"""The untrained models against plain Python, and their known figures on real check-ins."""

import math
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.batch import TimeAccess, Window, collate
from rota.errors import InputError
from rota.evaluation import SeenItems, ask, metric
from rota.histories import Histories, Spans
from rota.models.base import Scorer
from rota.models.baseline import Baseline
from rota.models.frequency import Frequency
from rota.models.popularity import Popularity
from rota.models.popularity_now import PopularityNow
from rota.models.routine import Routine
from rota.rooms import find, offers

ITEMS = 6


def slow_frequency(items: list[int], half_life: float) -> list[float]:
    scores = [0.0] * ITEMS
    for age, item in enumerate(reversed(items)):
        scores[item] += 0.5 ** (age / half_life)
    return scores


def slow_routine(
    items: list[int], times: list[int], now: int, period: int, width: float, half_life: float
) -> list[float]:
    scores = [0.0] * ITEMS
    for age, (item, time) in enumerate(zip(reversed(items), reversed(times), strict=True)):
        apart = (now - time) % period
        d = min(apart, period - apart) / width
        scores[item] += 0.5 ** (age / half_life) * (math.exp(-(d**2) / 2) + 0.02)
    return scores


def window(items: list[int], times: list[int], now: int) -> Window:
    return Window(np.array(items), np.array(times), np.array([*times[1:], now]))


@st.composite
def windows(draw: st.DrawFn) -> Window:
    items = draw(st.lists(st.integers(0, ITEMS - 1), min_size=1, max_size=12))
    day = st.integers(-(10**6), 4 * 10**9)
    times = sorted(draw(st.lists(day, min_size=len(items) + 1, max_size=len(items) + 1)))
    return window(items, times[:-1], times[-1])


@settings(max_examples=60, deadline=None)
@given(st.lists(windows(), min_size=1, max_size=4), st.sampled_from([1.0, 7.5, 50.0]))
def test_equal_plain_python_in_a_padded_batch(rows: list[Window], half_life: float) -> None:
    batch = collate(rows, TimeAccess.REQUEST)
    frequency = Frequency(ITEMS, half_life).scores(batch)
    routine = Routine(ITEMS, half_life=half_life).scores(batch)
    assert frequency.dtype == routine.dtype == torch.float64
    for row, by_count, by_clock in zip(rows, frequency, routine, strict=True):
        items, times, now = row.items.tolist(), row.times.tolist(), int(row.query_times[-1])
        np.testing.assert_allclose(by_count, slow_frequency(items, half_life), rtol=1e-12)
        slow = slow_routine(items, times, now, 86_400, 7_200, half_life)
        np.testing.assert_allclose(by_clock, slow, rtol=1e-12)


@pytest.mark.parametrize("model", [Frequency(ITEMS), Routine(ITEMS)], ids=["frequency", "routine"])
def test_padding_contributes_nothing(model: Scorer) -> None:
    short = window([3, 0, 3], [10, 20, 30], 40)
    long = window([1] * 9, list(range(9)), 9)
    alone = model.scores(collate([short], TimeAccess.REQUEST))
    together = model.scores(collate([short, long], TimeAccess.REQUEST))
    assert torch.equal(alone[0], together[0])


def test_equal_evidence_ties_exactly() -> None:
    batch = collate([window([1, 2, 1, 2], [0, 0, 0, 0], 0)], TimeAccess.REQUEST)
    popular = Popularity.of(np.array([4, 4, 2, 2, 0]), ITEMS).scores(batch)[0]
    assert popular.tolist() == [1, 0, 2, 0, 2, 0]
    frequent = Frequency(ITEMS).scores(batch)[0]
    assert frequent[[0, 3, 4, 5]].tolist() == [0.0] * 4
    assert frequent[2] > frequent[1]


def test_routine_asks_at_the_last_valid_position() -> None:
    # Breakfast at 8 and dinner at 20; asked at 8:30 tomorrow, beside a longer row.
    hour = 3600
    row = window([1, 2], [8 * hour, 20 * hour], 32 * hour + 1800)
    other = window([0] * 5, [0] * 5, 20 * hour)
    at_request = Routine(ITEMS).scores(collate([row, other], TimeAccess.REQUEST))[0]
    at_history = Routine(ITEMS).scores(collate([row, other], TimeAccess.HISTORY))[0]
    assert at_request.argmax() == 1
    assert at_history.argmax() == 2
    assert at_history[2] == 1.02  # its own event: distance 0


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_routine_reads_the_unit_and_stays_exact(unit: str) -> None:
    ticks = {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    times, now = [1_700_000_000, 1_700_030_003, 1_700_051_234], 1_700_100_001
    finer = collate([window([1, 2, 3], [t * ticks for t in times], now * ticks)], TimeAccess.REQUEST)
    coarse = collate([window([1, 2, 3], times, now)], TimeAccess.REQUEST)
    np.testing.assert_allclose(Routine(ITEMS, unit).scores(finer), Routine(ITEMS).scores(coarse), rtol=1e-14)


def test_routine_survives_the_ends_of_the_clock() -> None:
    far = 2**63 - 1
    batch = collate([window([1], [-far], far)], TimeAccess.REQUEST)
    slow = slow_routine([1], [-far], far, 86_400, 7_200, 50)
    np.testing.assert_allclose(Routine(ITEMS).scores(batch)[0], slow, rtol=1e-12)


def test_routine_takes_other_clocks() -> None:
    rows = [1, 2, 3], [0, 100_000, 500_000], 610_000
    found = Routine(ITEMS, period="7d", width="12h").scores(collate([window(*rows)], TimeAccess.REQUEST))
    np.testing.assert_allclose(found[0], slow_routine(*rows, 604_800, 43_200, 50), rtol=1e-12)


def test_popularity_is_the_same_for_everyone_and_frozen() -> None:
    batch = collate([window([5], [0], 1), window([1, 1], [0, 0], 1)], TimeAccess.NONE)
    model = Popularity.of(np.array([0, 3, 3]), ITEMS)
    assert model.scores(batch).tolist() == [[1, 0, 0, 2, 0, 0]] * 2
    assert Popularity(model.counts).scores(batch).tolist() == model.scores(batch).tolist()
    assert Popularity.of(np.array([], np.int64), ITEMS).scores(batch).tolist() == [[0] * ITEMS] * 2
    with pytest.raises(FrozenInstanceError):
        model.counts = torch.zeros(ITEMS, dtype=torch.float64)  # type: ignore[misc]


def test_refusals() -> None:
    batch = collate([window([1], [0], 1)], TimeAccess.NONE)
    with pytest.raises(InputError, match="item codes 2 to 6: expected 0 to 5"):
        Popularity.of(np.array([2, 6]), ITEMS)
    with pytest.raises(InputError, match="Routine needs a clock"):
        Routine(ITEMS).scores(batch)
    for made in (Frequency, Routine):
        with pytest.raises(InputError, match="half_life 0"):
            made(ITEMS, half_life=0)
    with pytest.raises(InputError, match="floor -1"):
        Routine(ITEMS, floor=-1)
    with pytest.raises(InputError, match="time unit 'h'"):
        Routine(ITEMS, "h")


BASELINES = {
    "frequency": Frequency,
    "popularity": Popularity,
    "popularity_now": PopularityNow,
    "routine": Routine,
}


def test_the_folder_is_the_registry() -> None:
    assert offers("models", Baseline) == list(BASELINES)
    for name, kind in BASELINES.items():
        assert find("models", name, Scorer) is kind  # type: ignore[type-abstract]
        assert kind.max_len is None
        assert kind.needs_clock == (kind in (Routine, PopularityNow))
        assert kind.personal == (kind in (Routine, Frequency))


@pytest.mark.parametrize("kind", BASELINES.values())
def test_every_baseline_is_fitted_on_what_the_stage_may_see_and_nothing_else(kind: type[Baseline]) -> None:
    """Rows that are not counted may hold anything; the unit and the catalogue are those of the histories."""
    counted = Spans(np.array([0, 1]), np.array([0, 3]), np.array([2, 5]), np.array([2, 5]))
    items, times = np.array([1, 2, 5, 1, 1, 0]), np.array([0, 50_000, 90_000, 0, 60_000, 70_000])
    hidden = np.array([False, False, True, False, False, True])
    found = []
    for of_item, of_time in ((items, times), (np.where(hidden, 3, items), np.where(hidden, 7, times))):
        model = kind.fitted(Histories(of_item, of_time * 1000, np.array([0, 3, 6]), ITEMS, "ms"), counted)
        batch = collate([window([1, 2], [0, 50_000_000], 100_000_000)], TimeAccess.REQUEST)
        found.append(model.scores(batch))
    assert torch.equal(*found)
    assert found[0].shape == (1, ITEMS)
    assert found[0].dtype == torch.float64
    if kind.personal:
        by_hand = {Frequency: Frequency(ITEMS), Routine: Routine(ITEMS, "ms")}[kind]
        assert torch.equal(found[0], by_hand.scores(batch))
    else:
        assert found[0].tolist() == [[0, 3, 1, 0, 0, 0]]


def check_ins(path: Path) -> tuple[Histories, Spans]:
    """Leave-one-out over users with at least five events, in stable order of (user, time, row)."""
    table = pq.read_table(path)
    user, item, time = (table[name].to_numpy() for name in ("user_id", "item_id", "timestamp"))
    order = np.lexsort((np.arange(len(user)), time, user))
    user, item, time = user[order], item[order], time[order]
    catalogue, codes = np.unique(item, return_inverse=True)
    starts = np.flatnonzero(np.diff(user, prepend=user[0] - 1))
    offsets = np.append(starts, len(user))
    users = np.flatnonzero(np.diff(offsets) >= 5)
    spans = Spans(users, offsets[users], offsets[users + 1] - 1, offsets[users + 1])
    return Histories(codes.astype(np.int64), time, offsets, len(catalogue)), spans


@pytest.mark.data
@pytest.mark.parametrize(
    ("model", "expected"), [(Frequency, [0.250, 0.608, 0.372]), (Routine, [0.311, 0.605, 0.415])]
)
def test_known_figures_on_real_check_ins(
    shared_data: Path, model: type[Frequency] | type[Routine], expected: list[float]
) -> None:
    histories, spans = check_ins(shared_data / "fsq_nyc.parquet")
    ranks = ask(model(histories.num_items), histories, spans, access=TimeAccess.REQUEST, seen=SeenItems.KEEP)
    found = [metric(name)(ranks).mean() for name in ("HR@1", "HR@10", "MRR")]
    assert found == pytest.approx(expected, abs=0.003)
