"""rota recommend: what it prints and writes, and what it refuses in one line."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from rota import cli
from rota.data.reading import read_log
from rota.recipes.recommending import recommend, recommend_to_users
from rota.serving.artefact import mark_stopped, save_artefact
from served import question_of, untrained
from town import Event, columns, town

WHO = "--user user --item item --time when"
LATER = "2024-01-10T08:00"


def write(path: Path, rows: list[Event]) -> None:
    pa.parquet.write_table(pa.table(columns(rows)), path)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one model, one with two, and histories."""
    folder = tmp_path_factory.mktemp("place")
    rows = town(20, 5)
    write(folder / "town.parquet", rows)
    log = read_log(folder / "town.parquet", user="user", item="item", time="when")
    model = untrained(question_of(log))
    for run, seeds in (("run", (0,)), ("several", (0, 1))):
        for seed in seeds:
            save_artefact(folder / run / "models" / f"rope-seed{seed}", model)
    write(folder / "one.parquet", [row for row in rows if row.user == "u3"])
    pa.csv.write_csv(pa.table(columns([row for row in rows if row.user == "u3"])), folder / "one.csv")
    write(folder / "visitor.parquet", [row for row in rows if row.user == "visitor"])
    write(folder / "event.parquet", [row for row in rows if row.user == "passer-by"])
    return folder


@pytest.fixture(autouse=True)
def there(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")


def test_one_user_gets_items_and_scores(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    json_file = tmp_path / "found.json"
    ticks = 1_704_920_400
    given = f"recommend run --history one.csv {WHO} --at {LATER} --at {ticks} --k 3 --json {json_file}"
    assert cli.run(given.split()) == 0
    out, err = capsys.readouterr()
    assert not err
    log = read_log("one.parquet", user="user", item="item", time="when")
    items = [log.item_ids[int(code)].as_py() for code in log.items]
    found = recommend("run", items=items, times=log.times, now=[LATER, ticks], k=3)
    assert json.loads(json_file.read_text()) == [
        {"user": "u3", "at": at, **one.to_json()} for at, one in zip((LATER, str(ticks)), found, strict=True)
    ]
    lines = out.splitlines()
    assert lines[0] == "u3: rope, trained on town.parquet"
    for place in range(3):
        (line,) = (line for line in lines if line.split()[:1] == [str(place + 1)])
        cells = [cell for one in found for cell in (str(one[place].item), f"{one[place].score:.3g}")]
        assert line.split()[1:] == cells
    # the line of a path is left whole, to be copied
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80


def test_many_users_get_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(f"recommend run --history town.parquet {WHO} --at {LATER} --k 20 --seen drop".split()) == 0
    out = capsys.readouterr().out
    log = read_log("town.parquet", user="user", item="item", time="when")
    found = recommend_to_users("run", log, now=LATER, k=20, seen="drop")
    said = " ".join(out.split())
    assert f"u0 {LATER}" in said
    assert f"and {len(found) - 20} more users" in out
    first = ", ".join(map(str, found["u0"][0].items[:4]))
    assert first in said
    assert max(map(len, out.splitlines())) <= 80


def test_what_a_model_does_not_know_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(f"recommend run --history visitor.parquet {WHO} --at {LATER} --k 2".split()) == 0
    out = capsys.readouterr().out
    assert "visitor: what is popular, for there is no item of the history that the model knows" in out
    assert "visitor: skipped, not in the model's catalogue: 999" in out


def test_rows_that_were_left_out_are_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file, late = tmp_path / "gaps.csv", "2024-01-03T12:00"
    lines = [
        "user,item,when",
        f"u3,101,{late}",
        f"u3,,{late}",
        f",101,{late}",
        f"u3,102,{late}",
        "u3,103,noon",
    ]
    file.write_text("\n".join(lines) + "\n")
    given = f"recommend run --history {file} {WHO} --at {LATER} --k 2 --on-error skip"
    assert cli.run(given.split()) == 0
    out = capsys.readouterr().out
    said = "gaps.csv: left out of 5 rows: 2 without a user or an item, 1 that could not be read"
    assert said in out.splitlines()
    file.write_text("\n".join(lines[:2]) + "\n")
    assert cli.run(given.split()) == 0
    assert "left out" not in capsys.readouterr().out


def test_one_event_is_a_history(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(f"recommend run --history event.parquet {WHO} --at {LATER}".split()) == 0
    assert "passer-by: rope" in capsys.readouterr().out


def test_a_new_user_gets_what_is_popular(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for at in ("", f"--at {LATER}"):
        assert cli.run(f"recommend run --k 3 --json {tmp_path / 'new.json'} {at}".split()) == 0
        out, err = capsys.readouterr()
        assert not err
        assert out.startswith("a new user: rope, trained on town")
        assert "what is popular: no history was given" in out.splitlines()
        (told,) = json.loads((tmp_path / "new.json").read_text())
        assert told["user"] is None
        assert told["basis"] == "popularity"
        assert [one["item"] for one in told["best"]] == recommend("run", items=[], k=3).items


def test_a_model_whose_training_broke_off_says_so(
    capsys: pytest.CaptureFixture[str], place: Path, tmp_path: Path
) -> None:
    shutil.copytree(place / "run", tmp_path / "run")
    mark_stopped(tmp_path / "run" / "models" / "rope-seed0", "KeyboardInterrupt")
    assert cli.run(f"recommend {tmp_path / 'run'} --history one.csv {WHO} --at {LATER}".split()) == 0
    assert "its training broke off: KeyboardInterrupt" in capsys.readouterr().out.splitlines()


BAD = {
    "missing file": (f"run --history nope.parquet {WHO} --at {LATER}", "nope.parquet", "no such file"),
    "not a time, of a new user": ("run --at noon", "'noon'", "ISO 8601"),
    "columns of no history": (f"run {WHO} --at {LATER}", "no --history"),
    "no columns": (f"run --history one.parquet --at {LATER}", "--user", "user, item, when"),
    "missing run": (f"nope --history one.parquet {WHO} --at {LATER}", "nope", "no such folder"),
    "no model": (f". --history one.parquet {WHO} --at {LATER}", "no trained model"),
    "several models": (
        f"several --history one.parquet {WHO} --at {LATER}", "2 models", "models/rope-seed0,", "rope-seed1"
    ),
    "no time": (f"run --history one.parquet {WHO}", "user 'u3'", "--at"),
    "not a time": (f"run --history one.parquet {WHO} --at noon", "'noon'", "ISO 8601"),
    "too early": (
        f"run --history one.parquet {WHO} --at 2024-01-01", "user 'u3'", "2024-01-01T00:00:00", "end"
    ),
    "no items": (f"run --history one.parquet {WHO} --at {LATER} --k 0", "k 0", "at least 1"),
    "seen what": (f"run --history one.parquet {WHO} --at {LATER} --seen hide", "'hide'", "keep, drop"),
    "unknown item": (
        f"run --history visitor.parquet {WHO} --at {LATER} --unknown refuse", "user 'visitor'", "999", "skip"
    ),
    "another zone": (
        f"run --history one.parquet {WHO} --at {LATER} --zone Asia/Tokyo", "Asia/Tokyo", "leave the zone out"
    ),
    "no folder for the file": (
        f"run --history one.parquet {WHO} --at {LATER} --json nowhere/a.json", "nowhere does not exist"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, *said = BAD[case]
    before = sorted(place.iterdir())
    assert cli.run(["recommend", *given.split()]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for part in said:
        assert part in err
    assert sorted(place.iterdir()) == before


def test_a_refusal_leaves_no_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(f"recommend run --history one.parquet {WHO} --at noon --json a.json".split()) == 2
    assert not (place / "a.json").exists()
    assert not list(place.glob(".*"))


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["recommend", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for said in ("--history", "--at", "--seen", "--unknown", "Examples:", "rota recommend runs/town"):
        assert said in out
