"""Slices against plain Python, and metrics by slice against a loop over bins, users and questions."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.errors import InputError
from rota.evaluation import (
    ByGap,
    ByHistory,
    ByHour,
    ByRepeat,
    Positives,
    Slice,
    metric,
    paired_difference,
    parse_slice,
    sliced,
)
from rota.evaluation.averaging import mean_of
from rota.histories import Histories, Spans
from rota.rooms import offers
from rota.tables import from_table, to_table

HOUR, DAY = 3600, 86_400
NAMES = ("HR@1", "NDCG@3", "MAP", "Recall@2")


@st.composite
def asked(draw: st.DrawFn, ticks: int = 1) -> tuple[Histories, Spans]:
    """Users with two to nine events, asked once or twice, each time for up to three."""
    items, times, offsets, spans = [], [], [0], []
    for user in range(draw(st.integers(1, 5))):
        size = draw(st.integers(2, 9))
        clock = st.integers(-9 * DAY * ticks, 9 * DAY * ticks)
        items += draw(st.lists(st.integers(0, 4), min_size=size, max_size=size))
        times += sorted(draw(st.lists(clock, min_size=size, max_size=size)))
        first = offsets[-1]
        for _ in range(draw(st.integers(1, 2))):
            start = first + draw(st.integers(0, size - 2))
            stop = draw(st.integers(start + 1, first + size - 1))
            spans.append((user, start, stop, min(stop + draw(st.integers(1, 3)), first + size)))
        offsets.append(first + size)
    unit = {1: "s", 1000: "ms"}[ticks]
    columns = [np.array(column, np.int64) for column in zip(*spans, strict=True)]
    return Histories(np.array(items), np.array(times), np.array(offsets), 5, unit), Spans(*columns)


def slow_gap(histories: Histories, start: int, stop: int, row: int, ticks: int) -> str:
    gap = int(histories.times[stop]) - int(histories.times[stop - 1])
    for border, label in ((1, "under 1h"), (6, "1h to 6h"), (24, "6h to 24h"), (168, "24h to 7d")):
        if gap < border * HOUR * ticks:
            return label
    return "7d or more"


def slow_hour(histories: Histories, start: int, stop: int, row: int, ticks: int) -> str:
    hour = math.floor(int(histories.times[stop]) / ticks / HOUR) % 24
    return f"{hour // 4 * 4:02}-{hour // 4 * 4 + 4:02}h"


def slow_history(histories: Histories, start: int, stop: int, row: int, ticks: int) -> str:
    return "under 3" if stop - start < 3 else "3 to 5" if stop - start < 5 else "5 or more"


def slow_repeat(histories: Histories, start: int, stop: int, row: int, ticks: int) -> str:
    return "repeat" if histories.items[row] in histories.items[start:stop] else "new"


SLICES = [
    (ByGap(), slow_gap),
    (ByHour(), slow_hour),
    (ByHistory((3, 5)), slow_history),
    (ByRepeat(), slow_repeat),
]


@pytest.mark.parametrize(("by", "slow"), SLICES, ids=[by.name for by, _ in SLICES])
@settings(max_examples=60)
@given(st.data(), st.sampled_from([1, 1000]))
def test_bins_equal_plain_python(by, slow, data: st.DataObject, ticks: int) -> None:
    histories, spans = data.draw(asked(ticks))
    positives = Positives.of(histories, spans)
    bins = by.bins(histories, spans, positives)
    assert bins.dtype == np.int64
    expected = [
        slow(histories, int(spans.starts[question]), int(spans.stops[question]), int(row), ticks)
        for question in range(len(spans.users))
        for row in positives.rows[positives.offsets[question] : positives.offsets[question + 1]]
    ]
    assert [by.labels[place] for place in bins] == expected


def one_gap(first: int, second: int, unit: str = "s", by: ByGap | None = None) -> str:
    by = by or ByGap()
    histories = Histories(np.zeros(2, np.int64), np.array([first, second]), np.array([0, 2]), 1, unit)
    spans = Spans(np.array([0]), np.array([0]), np.array([1]), np.array([2]))
    return by.labels[by.bins(histories, spans, Positives.of(histories, spans))[0]]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_border_is_exact_in_every_unit(unit: str) -> None:
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    start = -1_700_000_001 * ticks
    assert one_gap(start, start + 7 * DAY * ticks - 1, unit) == "24h to 7d"
    assert one_gap(start, start + 7 * DAY * ticks, unit) == "7d or more"
    assert one_gap(start, start + HOUR * ticks, unit) == "1h to 6h"
    assert one_gap(start, start + HOUR * ticks - 1, unit) == "under 1h"


def test_gaps_at_the_ends_of_the_clock_and_on_one_that_is_set_back() -> None:
    far = 2**63 - 1
    assert one_gap(-far - 1, far) == "7d or more"
    assert one_gap(far, far) == "under 1h"
    assert one_gap(100, -100) == "under 1h"
    assert one_gap(-far, far, by=ByGap(("1h", 1e29))) == "1h to 1e+29"


def test_borders_are_what_was_written() -> None:
    tenth = ByGap(("0.1s", "1s"))
    assert [one_gap(0, gap, "ms", tenth) for gap in (99, 100, 999, 1000)] == [
        "under 0.1s", "0.1s to 1s", "0.1s to 1s", "1s or more"
    ]  # fmt: skip
    assert [one_gap(0, gap, "s", tenth) for gap in (0, 1)] == ["under 0.1s", "1s or more"]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: ByGap(()), "borders .* of gaps"),
        (lambda: ByGap(("6h", "1h")), "each above the last"),
        (lambda: ByGap(("60min", "1h")), "each above the last"),
        (lambda: ByGap(("soon",)), "duration 'soon'"),
        (lambda: ByHour(5), "width 5 of hours: expected one of 1, 2, 3,"),
        (lambda: ByHour(0), "width 0"),
        (lambda: ByHistory((10, 10)), "borders .* of histories"),
        (lambda: ByHistory((1, 10)), "from 2 on"),
        (lambda: ByHistory(()), "from 2 on"),
        (
            lambda: parse_slice("weekday"),
            "'weekday' in evaluation.slices: expected one of gap, history, hour, repeat",
        ),
    ],
)
def test_refusals(make, error: str) -> None:
    with pytest.raises(InputError, match=error):
        make()


def test_the_folder_is_the_registry_and_slices_are_recipes() -> None:
    known = offers("evaluation.slices", Slice)
    assert known == ["gap", "history", "hour", "repeat"]
    for name in known:
        by = parse_slice(name)
        assert by.name == name
        assert from_table(to_table(by), Slice) == by
        assert len(set(by.labels)) == len(by.labels) > 1
    assert parse_slice("hour").labels == ("00-04h", "04-08h", "08-12h", "12-16h", "16-20h", "20-24h")


def slow_means(
    name: str, ranks: list[int], histories: Histories, spans: Spans, bins: list[int], wanted: int
) -> dict[int, float]:
    """Mean of each user's questions that have a positive in the bin, by those positives."""
    offsets = Positives.of(histories, spans).offsets
    values: dict[int, list[float]] = {}
    for question, user in enumerate(spans.users.tolist()):
        places = range(offsets[question], offsets[question + 1])
        own = [ranks[place] for place in places if bins[place] == wanted]
        if own:
            value = metric(name)(np.array(own), np.array([0, len(own)]))[0]
            values.setdefault(user, []).append(float(value))
    return {user: sum(own) / len(own) for user, own in values.items()}


@settings(max_examples=25)
@given(asked(), st.randoms(use_true_random=False), st.sampled_from([by for by, _ in SLICES]))
def test_figures_equal_a_loop(log: tuple[Histories, Spans], random, by: Slice) -> None:
    histories, spans = log
    positives = Positives.of(histories, spans)
    ranks = np.array([random.randint(0, 5) for _ in positives.rows], np.int64)
    found = sliced(NAMES, ranks, histories, spans, by)
    bins = by.bins(histories, spans, positives).tolist()
    assert tuple(row.label for row in found.rows) == by.labels
    assert (found.name, found.metrics) == (by.name, NAMES)
    for place, row in enumerate(found.rows):
        assert row.positives == bins.count(place)
        for name in NAMES:
            slow = slow_means(name, ranks.tolist(), histories, spans, bins, place)
            assert row.users == len(slow)
            mean = sum(slow.values()) / len(slow) if slow else math.nan
            assert row.means[name] == pytest.approx(mean, abs=1e-12, nan_ok=True)
        assert row.paired is None
    assert sum(row.positives for row in found.rows) == found.whole.positives == len(ranks)
    assert found.whole.questions == len(spans.users)
    for name in NAMES:
        assert found.whole.means[name] == pytest.approx(
            mean_of(metric(name), ranks, histories, spans), abs=1e-12
        )


def two_bins() -> tuple[Histories, Spans]:
    """Four users with one positive each, repeat, repeat, repeat, new; and one with both in a set."""
    items = np.array([0, 0, 1, 1, 2, 2, 0, 3, 4, 4, 0])
    offsets = np.array([0, 2, 4, 6, 8, 11])
    users = np.arange(5)
    return Histories(items, np.arange(11), offsets, 5), Spans(
        users, offsets[:-1], offsets[:-1] + 1, offsets[1:]
    )


def test_a_set_is_asked_in_both_bins() -> None:
    histories, spans = two_bins()
    ranks = np.array(
        [1, 2, 4, 5, 2, 4]
    )  # the last two are the set's: item 4 again, and item 0 for the first time
    found = sliced(["MRR", "Recall@2"], ranks, histories, spans, ByRepeat())
    repeat, new = found.rows
    assert (repeat.users, repeat.questions, repeat.positives) == (4, 4, 4)
    assert (new.users, new.questions, new.positives) == (2, 2, 2)
    assert repeat.means == pytest.approx({"MRR": (1 + 1 / 2 + 1 / 4 + 1 / 2) / 4, "Recall@2": 3 / 4})
    assert new.means == pytest.approx({"MRR": (1 / 5 + 1 / 4) / 2, "Recall@2": 0})
    assert found.whole.means["Recall@2"] == pytest.approx((1 + 1 + 0 + 0 + 1 / 2) / 5)


def test_differences_are_between_the_users_of_a_bin() -> None:
    histories, spans = two_bins()
    mine = np.array([[1, 2, 4, 5, 2, 4], [1, 1, 4, 5, 2, 4]])
    other = np.array([2, 2, 5, 4, 1, 5])
    found = sliced(["MRR"], mine, histories, spans, ByRepeat(), control=other)
    values = np.array([[1, 1 / 2, 1 / 4, 1 / 2], [1, 1, 1 / 4, 1 / 2]])
    assert found.rows[0].paired == {"MRR": paired_difference(values, np.array([1 / 2, 1 / 2, 1 / 5, 1]))}
    assert found.rows[0].means["MRR"] == pytest.approx(values.mean())
    assert set(found.rows[1].paired or {}) == {"MRR"}
    gaps = sliced(["MRR"], mine, histories, spans, ByGap(), control=other).rows
    assert gaps[0].paired == sliced(["MRR"], mine, histories, spans, ByGap(), control=other).whole.paired
    assert [row.paired for row in gaps[1:]] == [None] * 4  # nobody there


def test_what_is_not_defined_is_null_in_a_file() -> None:
    histories, spans = two_bins()
    found = sliced(["HR@1"], np.array([1, 2, 4, 5, 2, 4]), histories, spans, ByGap(), control=np.full(6, 3))
    written = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert written["slice"] == "gap"
    assert written["bins"][4] == {
        "label": "7d or more", "users": 0, "questions": 0, "positives": 0,
        "metrics": {"HR@1": None}, "paired": None,
    }  # fmt: skip
    assert written["bins"][0]["metrics"] == written["whole"]["metrics"] == {"HR@1": 1 / 5}
    assert set(written["whole"]["paired"]["HR@1"]) == {"diff", "lo", "hi"}


@pytest.mark.parametrize(
    "ranks", [np.ones(5, np.int64), np.ones((1, 1, 6), np.int64), np.ones((0, 6), np.int64)]
)
def test_ranks_of_another_stage_are_refused(ranks: np.ndarray) -> None:
    histories, spans = two_bins()
    with pytest.raises(InputError, match=r"expected \(6,\), one for each positive"):
        sliced(["MRR"], ranks, histories, spans, ByRepeat())
    with pytest.raises(InputError, match=r"expected \(6,\), one for each positive"):
        sliced(["MRR"], np.ones(6, np.int64), histories, spans, ByRepeat(), control=ranks)
