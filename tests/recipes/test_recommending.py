"""recommend: the ranking that was evaluated, on raw ids and times of any kind, and what it refuses."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from compared import Compared
from hypothesis import example, given, settings
from hypothesis import strategies as st

from logs import Row, log_of, random_rows
from rota.batch import TimeAccess
from rota.data.events import Ties
from rota.data.log import Log
from rota.data.reading import read_log
from rota.encodings.clockrope import ClockRoPE
from rota.errors import InputError
from rota.evaluation.protocol import ask
from rota.evaluation.seen import SeenItems
from rota.recipes.question import Question
from rota.recipes.recommending import recommend, recommend_to_users
from rota.serving.artefact import Artefact, save_artefact
from rota.serving.recommendation import Basis
from served import question_of, untrained
from town import by_user

START = 1_700_000_000  # 2023-11-14T22:13:20Z
ROWS: list[Row] = random_rows(1, users=12, most=14, instants=60, step=5000, start=START)
NEW_YORK = ZoneInfo("America/New_York")


def served(access: str = "request", log: Log | None = None, **how: Any) -> tuple[Question, Artefact]:
    question = question_of(log_of(ROWS) if log is None else log)
    return question, untrained(question, access, **how)


@pytest.fixture(scope="module")
def model() -> Artefact:
    return served(encoding=ClockRoPE())[1]


def history(rows: int = 8) -> dict[str, list[Any]]:
    return {"items": [f"i{n * n % 9}" for n in range(rows)], "times": [START + 7001 * n for n in range(rows)]}


NOW = START + 90_000


@pytest.mark.parametrize("access", list(TimeAccess))
@pytest.mark.parametrize("seen", list(SeenItems))
@pytest.mark.parametrize("repeat", [False, True])
def test_it_is_the_ranking_that_was_evaluated(access: str, seen: SeenItems, repeat: bool) -> None:
    question, model = served(access, repeat=repeat)
    log, test = question.log, question.stages.test
    ranks = ask(model.network, question.histories, test, access=access, seen=seen)
    assert len(set(ranks.tolist())) > 3
    ids = log.item_ids.to_pylist()
    for rank, start, stop in zip(ranks, test.starts, test.stops, strict=True):
        found = recommend(
            model,
            items=[ids[code] for code in log.items[start:stop]],
            times=log.times[start:stop],
            now=int(log.times[stop]),
            k=99,
            seen=seen,
        )
        target = ids[log.items[stop]]
        assert found.basis == Basis.MODEL
        assert (found.items.index(target) + 1 if target in found.items else 0) == rank
        scores = [score for _, score in found]
        assert scores == sorted(scores, reverse=True)


def test_a_trained_model_gives_the_ranks_of_its_results(compared: Compared) -> None:
    """From the folder that a comparison wrote and the rows of its file, to the ranks that it reported."""
    wanted = pq.read_table(compared.out / "ranks.parquet").to_pylist()
    folder = compared.out / "models" / "rope+clockrope-seed1"
    own = by_user(compared.rows)
    some = [row for row in wanted if (row["arm"], row["seed"]) == ("rope+clockrope", 1)]
    assert len(some) == 30
    for row in some[::3]:
        *past, last = (compared.rows[place] for place in own[row["user"]])
        found = recommend(
            folder,
            items=[event.item for event in past],
            times=[datetime.fromtimestamp(event.when, UTC) for event in past],
            now=datetime.fromtimestamp(last.when, UTC),
            k=100,
        )
        assert last.item == row["target"]
        assert found.items.index(last.item) + 1 == row["rank"]


def test_many_users_are_answered_as_each_is(model: Artefact) -> None:
    log = log_of([(user, "unheard" if time % 7 == 0 else item, time) for user, item, time in ROWS])
    later = [max(row[2] for row in ROWS) + lag for lag in (0, 40_000)]
    found = recommend_to_users(model, log, now=later, k=4)
    assert list(found) == log.user_ids.to_pylist()
    ids = log.item_ids.to_pylist()
    for user, first, last in zip(found, log.offsets[:-1], log.offsets[1:], strict=True):
        items = [ids[code] for code in log.items[first:last]]
        alone = recommend(model, items=items, times=log.times[first:last], now=later, k=4)
        assert [one.items for one in alone] == [one.items for one in found[user]]
        assert [one.unknown for one in alone] == [one.unknown for one in found[user]]
    assert any(one.unknown == ("unheard",) for answers in found.values() for one in answers)


def test_several_times_are_answered_as_each_is(model: Artefact) -> None:
    nows = [NOW, NOW + 20_000, NOW + 60_000]
    found = recommend(model, **history(), now=nows)
    alone = [recommend(model, **history(), now=now) for now in nows]
    assert [one.items for one in found] == [one.items for one in alone]
    assert len({tuple(one.items) for one in found}) > 1  # the time matters
    assert recommend(model, **history(), now=[]) == []


def instants(values: list[int]) -> list[datetime]:
    return [datetime.fromtimestamp(value, UTC) for value in values]


def wall(values: list[int], zone: ZoneInfo) -> list[datetime]:
    return [datetime.fromtimestamp(value, zone).replace(tzinfo=None) for value in values]


def ticks_shown(values: list[int]) -> list[int]:
    """What a clock in New York shows, counted as if it were Unix time."""
    return [int(shown.replace(tzinfo=UTC).timestamp()) for shown in wall(values, NEW_YORK)]


KINDS: Mapping[str, Any] = {
    "ticks": list,
    "numpy ints": lambda values: np.array(values),
    "a smaller type": lambda values: np.array(values, np.uint32),
    "whole floats": lambda values: [float(value) for value in values],
    "ticks as text": lambda values: [str(value) for value in values],
    "datetimes in UTC": instants,
    "datetimes elsewhere": lambda values: [one.astimezone(NEW_YORK) for one in instants(values)],
    "a tuple of offsets": lambda values: tuple(
        one.astimezone(timezone(timedelta(hours=place))) for place, one in enumerate(instants(values))
    ),
    "ISO text": lambda values: [one.isoformat() for one in instants(values)],
    "ISO text with Z": lambda values: [f"{one:%Y-%m-%d %H:%M:%S}.999Z" for one in instants(values)],
    "a column of pandas": lambda values: pd.Series(pd.to_datetime(values, unit="s", utc=True)),
    "a column of polars": lambda values: pl.Series(instants(values)),
    "an array of Arrow": lambda values: pa.array(instants(values)),
    "pieces of Arrow": lambda values: pa.chunked_array([instants(values)[:3], instants(values)[3:]]),
    "milliseconds": lambda values: [one + timedelta(milliseconds=999) for one in instants(values)],
}  # fmt: skip


@pytest.mark.parametrize("zone", [None, "America/New_York"])
@pytest.mark.parametrize("kind", KINDS)
def test_equal_times_are_equal_whatever_their_kind(kind: str, zone: str | None) -> None:
    local = None if zone is None else ticks_shown([row[2] for row in ROWS])
    _, model = served(log=log_of(ROWS, zone=zone, local=local), encoding=ClockRoPE())
    items, times = history().values()
    found = recommend(model, items=items, times=times, now=[NOW, NOW + 7000, NOW + 8000, NOW + 9000])
    given = KINDS[kind]([NOW, NOW + 7000, NOW + 8000, NOW + 9000])
    assert recommend(model, items=items, times=KINDS[kind](times), now=given) == found
    assert recommend(model, items=pd.Series(items), times=times, now=given) == found


ITEMS: Mapping[str, Any] = {
    "numpy": np.array,
    "a column of pandas": pd.Series,
    "categories of pandas": lambda ids: pd.Series(ids, dtype="category"),
    "a column of polars": pl.Series,
    "categories of polars": lambda ids: pl.Series(ids, dtype=pl.Categorical),
    "choices of polars": lambda ids: pl.Series(ids, dtype=pl.Enum(sorted(set(ids)))),
    "Arrow's views": lambda ids: pa.array(ids, pa.string_view()),
    "Arrow's dictionary": lambda ids: pa.array(ids).dictionary_encode(),
}


@pytest.mark.parametrize("kind", ITEMS)
def test_equal_items_are_equal_whatever_their_kind(kind: str, model: Artefact) -> None:
    items, times = history().values()
    found = recommend(model, items=items, times=times, now=NOW)
    assert recommend(model, items=ITEMS[kind](items), times=times, now=NOW) == found


NAIVE: Mapping[str, Any] = {
    "datetimes": list,
    "numpy": lambda values: np.array(values, "datetime64[ns]"),
    "a list of numpy's": lambda values: [np.datetime64(value) for value in values],
    "text": lambda values: [value.isoformat() for value in values],
    "pandas": lambda values: pd.Series(values),
    "Timestamps": lambda values: [pd.Timestamp(value) for value in values],
}


@pytest.mark.parametrize("kind", NAIVE)
def test_a_datetime_without_a_zone_is_what_the_model_clock_shows(kind: str) -> None:
    local = ticks_shown([row[2] for row in ROWS])
    _, model = served(log=log_of(ROWS, zone="America/New_York", local=local), encoding=ClockRoPE())
    items, times = history().values()
    found = recommend(model, items=items, times=times, now=[NOW, NOW + 9000])
    naive = NAIVE[kind](wall(times, NEW_YORK))
    nows = NAIVE[kind](wall([NOW, NOW + 9000], NEW_YORK))
    assert recommend(model, items=items, times=naive, now=nows) == found
    assert recommend(model, items=items, times=times, now=nows) == found
    assert recommend(model, items=items, times=naive, now=nows[0]).items == found[0].items


@pytest.fixture(scope="module")
def spied() -> tuple[Artefact, list[int]]:
    """A model on New York's clock that notes what it is asked at."""
    local = ticks_shown([row[2] for row in ROWS])
    _, model = served(log=log_of(ROWS, zone="America/New_York", local=local))
    noted: list[int] = []
    scores = model.network.scores

    def noting(batch: Any) -> Any:
        noted[:] = [int(batch.key_time[0, -1]), int(batch.query_time[0, -1])]
        return scores(batch)

    model.network.scores = noting  # type: ignore[method-assign]
    return model, noted


@settings(max_examples=25)
@given(st.integers(1_600_000_000, 2_000_000_000), st.integers(0, 10**7))
@example(1_762_063_199, 1)  # the last second of summer time in 2025: the clock steps back between the two
@example(1_741_503_599, 1)  # and the last before it
def test_instants_are_shown_by_the_zone_s_real_rules(
    spied: tuple[Artefact, list[int]], last: int, lag: int
) -> None:
    model, noted = spied
    recommend(model, items=["i1"], times=[last], now=last + lag)
    shown = wall([last, last + lag], NEW_YORK)
    assert [datetime.fromtimestamp(tick, UTC).replace(tzinfo=None) for tick in noted] == shown
    recommend(model, items=["i1"], times=instants([last]), now=instants([last + lag])[0])
    assert [datetime.fromtimestamp(tick, UTC).replace(tzinfo=None) for tick in noted] == shown


def test_the_order_given_means_nothing_but_among_ties(model: Artefact) -> None:
    items, times = ["i1", "i5", "i3", "i7"], [START, START + 50, START + 50, START + 900]
    found = recommend(model, items=items, times=times, now=NOW)

    def moved(order: list[int]) -> Any:
        return recommend(model, items=[items[n] for n in order], times=[times[n] for n in order], now=NOW)

    assert moved([3, 1, 2, 0]) == moved([1, 0, 2, 3]) == found
    assert moved([0, 2, 1, 3]) != found


def test_ties_without_an_order_have_none() -> None:
    question = question_of(log_of(ROWS, Ties.UNORDERED))
    model = untrained(question, encoding=ClockRoPE())
    items, times = ["i1", "i5", "i3", "i7"], [START, START + 50, START + 50, START + 900]
    found = recommend(model, items=items, times=times, now=NOW)
    assert recommend(model, items=["i1", "i3", "i5", "i7"], times=times, now=NOW) == found


def test_history_access_is_not_shown_now_and_none_no_time_at_all() -> None:
    _, model = served("history", encoding=ClockRoPE())
    found = recommend(model, **history())
    assert [recommend(model, **history(), now=now) for now in (NOW, NOW + 10**6)] == [found, found]
    assert recommend(model, items=history()["items"], times=[START + 3 * n for n in range(8)]) != found
    _, blind = served("none")
    items, times = history().values()
    found = recommend(blind, items=items)
    assert recommend(blind, items=items, times=times, now=NOW) == found
    assert recommend(blind, items=items[::-1], times=times[::-1]) == found
    assert recommend(blind, items=items[::-1]) != found


@pytest.mark.parametrize("access", list(TimeAccess))
@pytest.mark.parametrize("items", [[], ["new", "newer", "new"]])
def test_without_a_known_item_it_is_popularity(access: str, items: list[str]) -> None:
    question, model = served(access)
    found = recommend(model, items=items, times=[NOW] * len(items), now=NOW, k=3, seen="drop")
    counts = dict(zip(question.log.item_ids.to_pylist(), model.catalogue.counts.tolist(), strict=True))
    best = sorted(counts, key=lambda item: (-counts[item], item))[:3]
    assert found.basis == Basis.POPULARITY
    assert [(one.item, one.score) for one in found] == [(item, counts[item]) for item in best]
    assert found.unknown == tuple(dict.fromkeys(items))
    assert recommend(model, items=[], k=3).items == best


def test_unknown_items_are_skipped_and_named_or_refused(model: Artefact) -> None:
    items, times = history().values()
    found = recommend(model, items=items, times=times, now=NOW)
    more = {
        "items": ["x", *items[:4], "y", *items[4:], "x"],
        "times": [START - 9, *times[:4], times[3], *times[4:], NOW],
    }
    with_them = recommend(model, **more, now=NOW)
    assert (with_them.best, with_them.unknown) == (found.best, ("x", "y"))
    with pytest.raises(InputError, match=r"2 items .* 'x', 'y'.*--unknown skip"):
        recommend(model, **more, now=NOW, unknown="refuse")
    assert recommend(model, items=items, times=times, now=NOW, unknown="refuse") == found


def test_items_that_training_never_met_are_named_and_read() -> None:
    rows = [(f"u{n}", f"i{(n + m) % 4}", START + 9000 * m) for n in range(4) for m in range(6)]
    question = question_of(log_of([*rows, ("u0", "late", START + 10**6)]))
    model = untrained(question)
    items = ["i1", "late", "i2"]
    found = recommend(model, items=items, times=[START, START + 5, START + 9], now=NOW)
    assert (found.untrained, found.unknown) == (("late",), ())
    assert found.best != recommend(model, items=["i1", "i2"], times=[START, START + 9], now=NOW).best


def test_seen_items_of_the_whole_history_are_left_out(model: Artefact) -> None:
    items = [f"i{n}" for n in range(7)] + ["i7"] * 8  # the window of the model sees the last alone
    times = [START + n for n in range(15)]
    kept = recommend(model, items=items, times=times, now=NOW)
    dropped = recommend(model, items=items, times=times, now=NOW, seen="drop")
    assert kept.items[:9] != ["i8"]
    assert dropped.items == ["i8"]
    assert dropped.best[0] in kept.best


def test_the_window_of_the_model_is_the_last_events(model: Artefact) -> None:
    items, times = history(20).values()
    found = recommend(model, items=items, times=times, now=NOW + 10**6)
    assert recommend(model, items=items[-6:], times=times[-6:], now=NOW + 10**6) == found
    assert recommend(model, items=items[-5:], times=times[-5:], now=NOW + 10**6) != found


@pytest.mark.parametrize("k", [1, 3, 9, 1000])
def test_k_items_or_the_whole_catalogue(model: Artefact, k: int) -> None:
    found = recommend(model, **history(), now=NOW, k=k)
    assert len(found) == min(k, 9)
    assert found.best == recommend(model, **history(), now=NOW, k=9).best[:k]
    assert len(set(found.items)) == len(found)


def test_equal_scores_are_in_the_order_of_the_ids() -> None:
    _, model = served()
    level = replace(model, catalogue=replace(model.catalogue, counts=np.array([1, 2, 2, 0, 2, 1, 2, 2, 0])))
    best = ["i1", "i2", "i4", "i6", "i7", "i0", "i5"]
    for k in range(1, 8):
        assert recommend(level, items=[], k=k).items == best[:k]


def test_a_folder_is_as_good_as_the_model(model: Artefact, tmp_path: Any) -> None:
    save_artefact(tmp_path / "models" / "rope-seed3", model)
    found = recommend(model, **history(), now=NOW)
    for path in (tmp_path / "models" / "rope-seed3", str(tmp_path), tmp_path / "models"):
        assert recommend(path, **history(), now=NOW) == found
    save_artefact(tmp_path / "models" / "rope-seed4", model)
    with pytest.raises(InputError, match=r"has 2 models: give one of .*rope-seed3, .*rope-seed4"):
        recommend(tmp_path, **history(), now=NOW)
    with pytest.raises(InputError, match="no such folder"):
        recommend(tmp_path / "nowhere", **history(), now=NOW)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no trained model in it"):
        recommend(tmp_path / "empty", **history(), now=NOW)


def test_a_request_before_the_history_s_end_names_both(model: Artefact) -> None:
    end = history()["times"][-1]
    recommend(model, **history(), now=end)
    with pytest.raises(InputError) as refused:
        recommend(model, **history(), now=[end, end - 1])
    for time in (end - 1, end):
        assert datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%S") in str(refused.value)
    unknown_last = {"items": ["i1", "unheard"], "times": [START, NOW]}
    with pytest.raises(InputError, match="before the history's end"):
        recommend(model, **unknown_last, now=NOW - 1)


def test_where_the_clock_steps_back_instants_decide(spied: tuple[Artefact, list[int]]) -> None:
    model, _ = spied
    before, after = 1_762_063_199, 1_762_063_200  # 01:59:59 in summer, 01:00:00 in winter
    recommend(model, items=["i1"], times=[before], now=after)
    recommend(model, items=["i1"], times=["2025-11-02T01:59:59-04:00"], now="2025-11-02T01:00-05:00")
    with pytest.raises(InputError, match=r"2025-11-02T01:00:00 is before .* 2025-11-02T01:59:59"):
        recommend(model, items=["i1"], times=["2025-11-02T01:59:59"], now="2025-11-02T01:00")


BAD: Mapping[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "no times": ({"times": None}, ("time access request", "times=")),
    "no now": ({"now": None}, ("time of the request", "now=")),
    "fewer times": ({"times": [START]}, ("8 items and 1 times",)),
    "no items wanted": ({"k": 0}, ("k 0", "at least 1")),
    "seen what": ({"seen": "hide"}, ("'hide'", "keep, drop")),
    "unknown what": ({"unknown": "guess"}, ("'guess'", "skip, refuse")),
    "a missing item": ({"items": ["i1", None] * 4}, ("items", "missing")),
    "no pieces of views": (
        {"items": pa.chunked_array([], pa.dictionary(pa.int32(), pa.string_view()))},
        ("items",),
    ),
    "a number among items": ({"items": ["i1", 2] * 4}, ("items", "one type")),
    "numbers as items": ({"items": [1] * 8}, ("items are whole numbers", "text", "'i0'")),
    "one item alone": ({"items": "i1"}, ("items 'i1'", "list")),
    "a missing time": ({"times": [None, *history()["times"][1:]]}, ("times", "missing")),
    "numpy's missing time": ({"now": np.datetime64("NaT")}, ("now: 1 of 1 is missing",)),
    "pandas' missing time": ({"now": pd.NaT}, ("now: 1 of 1 is missing",)),
    "after nanoseconds end": ({"now": "2500-01-01"}, ("now", "2500-01-01T00:00:00", "far from the events")),
    "times without an order": ({"now": {NOW, NOW + 1}}, ("now {", "expected a list")),
    "not a time": ({"now": "yesterday"}, ("now", "'yesterday'", "ISO 8601")),
    "a day that is none": ({"now": "2024-02-30"}, ("now", "'2024-02-30'", "ISO 8601")),
    "a truth value": ({"now": [True]}, ("now", "truth value")),
    "a fraction": ({"now": NOW + 0.5}, ("now", "whole numbers")),
    "rounded floats": ({"now": 2.0**60}, ("now", "int64")),
    "halved floats": (
        {"times": np.array(history()["times"], np.float32)},
        ("times of type float are larger than it holds exactly", "int64"),
    ),
    "a duration": ({"now": [timedelta(1)]}, ("now", "duration")),
    "mixed offsets": (
        {"times": [*instants(history()["times"][:7]), datetime(2023, 11, 15)]},
        ("times", "some have an offset", "alike"),
    ),
    "milliseconds for seconds": ({"now": NOW * 1000}, ("now", "ticks of s since 1970", "check the unit")),
    "seconds since yesterday": ({"times": list(range(8))}, ("times", "1970-01-01", "check the unit")),
    "another zone": ({"zone": "Europe/Paris"}, ("'Europe/Paris'", "clock of UTC")),
    "no zone": ({"zone": "Mars/Phobos"}, ("'Mars/Phobos'",)),
    "no such device": ({"device": "tpu"}, ("'tpu'", "cpu or cuda")),
    "beyond int64": ({"now": [10**30]}, ("now",)),
    "too long a number": ({"now": "9" * 19}, ("now",)),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case: str, model: Artefact) -> None:
    given, said = BAD[case]
    with pytest.raises(InputError) as refused:
        recommend(model, **(history() | {"now": NOW} | given))
    assert "\n" not in str(refused.value)
    for part in said:
        assert part in str(refused.value)


def test_the_user_is_named_where_there_are_several(model: Artefact) -> None:
    with pytest.raises(InputError, match=r"user 'u\d+': now .* is before the history's end"):
        recommend_to_users(model, log_of(ROWS), now=START)


def test_times_from_an_unknown_zero_are_numbers() -> None:
    rows = [(user, item, time - START) for user, item, time in ROWS]
    _, model = served(log=log_of(rows, known_epoch=False))
    found = recommend(model, items=["i1", "i2"], times=[5, 9], now=NOW)
    assert len(found) == 9
    with pytest.raises(InputError, match="unknown zero"):
        recommend(model, items=["i1"], times=[datetime(2024, 1, 1)], now=NOW)
    with pytest.raises(InputError, match="leave it out"):
        recommend(model, items=["i1"], times=[5], now=9, zone="UTC")
    log = log_of([("u", "i1", 5), ("u", "i2", 9)], known_epoch=False)
    assert recommend_to_users(model, log, now=NOW)["u"] == [found]
    with pytest.raises(InputError, match="count from 1970"):
        recommend_to_users(model, log_of(ROWS), now=NOW)


def test_a_clock_by_row_asks_for_the_user_s_zone() -> None:
    local = [row[2] + 3600 * (n % 5) for n, row in enumerate(ROWS)]
    _, model = served(log=log_of(ROWS, zone="by row", local=local), encoding=ClockRoPE())
    items, times = history().values()
    shown = wall(times, NEW_YORK)
    found = recommend(model, items=items, times=shown, now=wall([NOW], NEW_YORK)[0])
    assert recommend(model, items=items, times=times, now=NOW, zone="America/New_York") == found
    assert recommend(model, items=items, times=instants(times), now=NOW, zone="America/New_York") == found
    assert recommend(model, items=items, times=times, now=NOW, zone="Asia/Tokyo") != found
    with pytest.raises(InputError, match="state the user's zone"):
        recommend(model, items=items, times=times, now=NOW)
    ticks = [int(time.replace(tzinfo=UTC).timestamp()) for time in shown]
    rows = [("u", item, time) for item, time in zip(items, times, strict=True)]
    log = log_of(rows, zone="America/New_York", local=ticks)
    assert recommend_to_users(model, log, now=wall([NOW], NEW_YORK)[0])["u"] == [found]


def test_a_model_of_wall_clocks_takes_what_they_show() -> None:
    _, model = served(log=log_of(ROWS, absolute=False), encoding=ClockRoPE())
    items, times = history().values()
    shown = [datetime.fromtimestamp(time, UTC).replace(tzinfo=None) for time in times]
    found = recommend(model, items=items, times=times, now=NOW)
    assert recommend(model, items=items, times=shown, now=NOW) == found
    with pytest.raises(InputError, match="state the user's zone"):
        recommend(model, items=items, times=instants(times), now=NOW)
    abroad = [datetime.fromtimestamp(time, UTC).replace(tzinfo=NEW_YORK) for time in times]
    assert recommend(model, items=items, times=abroad, now=NOW, zone="America/New_York") == found


def test_a_day_is_its_midnight(model: Artefact) -> None:
    found = recommend(model, **history(), now=date(2023, 11, 20))
    assert recommend(model, **history(), now="2023-11-20") == found
    assert recommend(model, **history(), now=datetime(2023, 11, 20, tzinfo=UTC)) == found


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_a_finer_clock_is_its_own_unit(unit: Any) -> None:
    grow = {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    rows = [(user, item, time * grow) for user, item, time in ROWS]
    _, model = served(log=log_of(rows, unit=unit), encoding=ClockRoPE())
    items, times = history().values()
    found = recommend(model, items=items, times=instants(times), now=instants([NOW])[0])
    assert recommend(model, items=items, times=[time * grow for time in times], now=NOW * grow) == found
    coarse = read_log(
        pa.table({"u": ["u"] * 8, "i": items, "t": times}), user="u", item="i", time="t", unit="s"
    )
    assert recommend_to_users(model, coarse, now=NOW * grow)["u"] == [found]
    with pytest.raises(InputError, match="check the unit"):
        recommend(model, items=items, times=times, now=NOW)


def test_answers_become_json(model: Artefact) -> None:
    found = recommend(model, items=["i1", "x"], times=[START, START + 1], now=NOW, k=1)
    ((item, score),) = found
    assert found.to_json() == {
        "basis": "model", "best": [{"item": item, "score": score}], "unknown": ["x"], "untrained": [],
    }  # fmt: skip
    assert found[0] == found[:1][0] == (item, score)
