"""evaluate: the figures of the comparison that trained the model, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compared import Compared

from logs import Row, log_of, random_rows
from rota.batch import TimeAccess, request_batch
from rota.data.log import Log
from rota.data.reading import read_log
from rota.data.splits.by_user import ByUser
from rota.data.splits.holdout_day import HoldoutDay
from rota.data.splits.leave_last import LeaveLast
from rota.data.splits.temporal import Temporal
from rota.encodings.clockrope import ClockRoPE
from rota.errors import InputError
from rota.evaluation.protocol import ask
from rota.evaluation.slices.gap import ByGap
from rota.evaluation.slicing import sliced
from rota.recipes.evaluating import evaluate
from rota.recipes.provenances import written_split
from rota.recipes.splitting import parse_split
from rota.serving.artefact import Artefact
from served import question_of, untrained

ROWS: list[Row] = random_rows(2, users=14, most=14, instants=60, step=5000, start=1_700_000_000)


def made(access: str = "request", seen: str = "keep", log: Log | None = None) -> tuple[Log, Artefact]:
    log = log_of(ROWS) if log is None else log
    encoding = None if access == "none" else ClockRoPE()
    return log, untrained(question_of(log), access, seen=seen, encoding=encoding)


def test_a_comparison_s_figures_come_back(compared: Compared, tmp_path: Path) -> None:
    log = read_log(compared.parquet, user="user", item="item", time="when")
    found = evaluate(compared.out / "models" / "trope-seed1", log, slices=["gap", "repeat"])
    results = json.loads((compared.out / "results.json").read_text())
    assert not found.departures
    found.save(tmp_path / "found.json")
    saved = json.loads((tmp_path / "found.json").read_text())
    for key in ("schema", "time_access", "seen", "split", "data", "versions"):
        assert saved[key] == results[key]
    wanted = [
        row for row in results["arms"] if (row["arm"], row["seed"]) in {("trope", 1)} or row["seed"] is None
    ]
    for row in wanted:
        row.pop("validation", None)  # nothing was trained here
    assert saved["arms"] == wanted
    assert len(wanted) > 3
    assert [one["slice"] for one in saved["slices"]] == ["gap", "repeat"]
    assert saved["slices"][0]["whole"]["metrics"] == wanted[0]["metrics"]
    assert saved["model"]["arm"] == "trope"
    assert saved["departures"] == []
    assert len(found.tables()) == 3


@pytest.mark.parametrize("access", list(TimeAccess))
@pytest.mark.parametrize("seen", ["keep", "drop"])
def test_the_model_is_asked_as_it_was_trained(access: str, seen: str) -> None:
    log, model = made(access, seen)
    question = question_of(log)
    found = evaluate(model, log, slices=[ByGap(("2h", "1d"))])
    ranks = ask(model.network, question.histories, question.stages.test, access=access, seen=seen)
    mine, *others = found.comparison.runs
    assert np.array_equal(mine.ranks, ranks)
    assert (mine.arm, mine.seed) == ("rope", 3)
    assert {run.arm for run in others} >= {"popularity", "frequency"}
    assert ("routine" in {run.arm for run in others}) == (access != "none")
    (by_gap,) = found.slices
    again = sliced(
        found.comparison.metrics, ranks, question.histories, question.stages.test, ByGap(("2h", "1d"))
    )
    assert str(by_gap) == str(again)


def test_another_time_access_is_refused_unless_wanted() -> None:
    log, model = made("request")
    with pytest.raises(InputError, match=r"time access history, trained at request: .*--anyway"):
        evaluate(model, log, time_access="history")
    found = evaluate(model, log, time_access="history", anyway=True)
    assert found.departures == ("time access history, trained at request",)
    assert found.comparison.time_access == "history"
    question = question_of(log)
    test, place = question.stages.test, 4
    batch = request_batch(question.histories, test, np.array([place]), model.network.max_len, "history")
    scores = model.network.scores(batch)[0]  # what it says when its queries stand at their own event's time
    target = scores[question.histories.items[test.stops[place]]]
    assert found.comparison.runs[0].ranks[place] == int((scores >= target).sum())


def test_a_model_of_the_clock_cannot_do_without() -> None:
    log, model = made("history")
    with pytest.raises(InputError, match="trained at history and cannot answer without times"):
        evaluate(model, log, time_access="none", anyway=True)


def test_a_model_without_a_clock_answers_the_same_at_any_access() -> None:
    log, model = made("none")
    found = evaluate(model, log)
    other = evaluate(model, log, time_access="request", anyway=True)
    assert np.array_equal(found.comparison.runs[0].ranks, other.comparison.runs[0].ranks)
    assert other.departures == ("time access request, trained at none",)


def test_another_split_is_refused_unless_wanted() -> None:
    log, model = made()
    with pytest.raises(
        InputError, match=r"split leave_last_2, trained at leave_one_out; split hash \w{16}, "
    ):
        evaluate(model, log, split=LeaveLast(2))
    found = evaluate(model, log, split=LeaveLast(2), anyway=True)
    assert found.comparison.split_name == "leave_last_2"
    assert any("split hash" in phrase for phrase in found.departures)


def test_other_data_is_refused_unless_wanted_and_ranked_in_the_model_s_catalogue() -> None:
    _, model = made()
    fewer = log_of([row for row in ROWS if row[1] not in ("i0", "i4")])
    assert fewer.num_items == 7
    with pytest.raises(InputError, match="data fingerprint"):
        evaluate(model, fewer)
    found = evaluate(model, fewer, anyway=True)
    assert any("data fingerprint" in phrase for phrase in found.departures)
    question = question_of(fewer)
    ids, place = question.log.item_ids.to_pylist(), 3
    codes = model.catalogue.codes(question.log.item_ids)
    histories = question.histories
    coded = type(histories)(codes[histories.items], histories.times, histories.offsets, 9, histories.unit)
    ranks = ask(model.network, coded, question.stages.test, access="request", seen="keep")
    assert np.array_equal(found.comparison.runs[0].ranks, ranks)
    assert (
        np.asarray(found.comparison.targets)[place] == ids[histories.items[question.stages.test.stops[place]]]
    )


@pytest.mark.parametrize("anyway", [False, True])
def test_items_that_the_model_does_not_know_are_always_refused(anyway: bool) -> None:
    _, model = made()
    strange = log_of(
        [(user, f"new{item}" if item in ("i2", "i3") else item, time) for user, item, time in ROWS]
    )
    with pytest.raises(InputError, match=r"2 of 9 items .* catalogue of 9: 'newi2', 'newi3'"):
        evaluate(model, strange, anyway=anyway)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"unit": "ms"}, "clock of ms, the model was trained on one of s"),
        ({"known_epoch": False}, "times of another kind"),
        ({"absolute": False}, "times of another kind"),
    ],
)
def test_another_clock_is_always_refused(how: dict[str, Any], said: str) -> None:
    _, model = made()
    with pytest.raises(InputError, match=said):
        evaluate(model, log_of(ROWS, **how), anyway=True)


def test_another_zone_is_refused_unless_wanted() -> None:
    _, model = made()
    paris = log_of(ROWS, zone="Europe/Paris", local=[row[2] + 3600 for row in ROWS])
    with pytest.raises(InputError, match=r"zone Europe/Paris, trained at None"):
        evaluate(model, paris)
    assert "zone Europe/Paris, trained at None" in evaluate(model, paris, anyway=True).departures


def test_another_treatment_of_seen_items_is_refused_unless_wanted() -> None:
    log, model = made()
    with pytest.raises(InputError, match=r"seen items drop, trained at keep: .*--anyway"):
        evaluate(model, log, seen="drop")
    found = evaluate(model, log, seen="drop", anyway=True)
    assert (found.departures, found.comparison.seen) == (("seen items drop, trained at keep",), "drop")
    assert (found.comparison.runs[0].ranks == 0).any()
    assert not evaluate(model, log, seen="keep").departures


def test_a_slice_is_shown_once() -> None:
    log, model = made()
    for same in (["gap", "repeat", "gap"], [ByGap(), "gap"]):
        with pytest.raises(InputError, match="slice gap twice: expected each once; leave one out") as caught:
            evaluate(model, log, slices=same)
        assert "\n" not in str(caught.value)
    other = evaluate(model, log, slices=["gap", ByGap(("2h", "1d"))])  # by other borders
    assert [one.name for one in other.slices] == ["gap", "gap"]


def test_somebody_may_watch() -> None:
    log, model = made()
    told: list[tuple[str, int, int]] = []
    evaluate(model, log, tell=lambda *step: told.append(step))
    asked = len(question_of(log).stages.test.users)
    assert told[0] == ("asking rope", 0, asked)
    assert ("asking rope", asked, asked) in told
    assert told[-1][0] == "asking the untrained baselines"


@pytest.mark.parametrize(
    "split",
    [
        LeaveLast(), LeaveLast(3), Temporal(), Temporal("2023-11-16", "2023-11-15", gap="1h"),
        Temporal(0.8, 0.7, targets="all"), HoldoutDay(), HoldoutDay("2023-11-16"), ByUser(0.2, 0.2, seed=4),
    ],
)  # fmt: skip
def test_a_split_is_written_as_it_is_read(split: Any) -> None:
    assert parse_split(written_split(split)) == split
