"""rota evaluate: its table, its file, and what it refuses in one line."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from rota import cli
from rota.data.reading import read_log
from rota.recipes.evaluating import evaluate
from rota.serving.artefact import save_artefact
from served import question_of, untrained
from town import columns, town

WHO = "--user user --item item --time when"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one model, its log, that log prepared, and another log."""
    folder = tmp_path_factory.mktemp("place")
    rows = town(20, 5)
    pa.parquet.write_table(pa.table(columns(rows)), folder / "town.parquet")
    pa.parquet.write_table(pa.table(columns(town(12, 5))), folder / "smaller.parquet")
    other = {**columns(rows), "item": [row.item + 1000 for row in rows]}
    pa.parquet.write_table(pa.table(other), folder / "other.parquet")
    log = read_log(folder / "town.parquet", user="user", item="item", time="when")
    save_artefact(folder / "run" / "models" / "rope-seed3", untrained(question_of(log)))
    assert cli.run(f"prepare {folder}/town.parquet {WHO} --out {folder}/prepared".split()) == 0
    return folder


@pytest.fixture(autouse=True)
def there(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("log", [f"town.parquet {WHO}", "prepared"])
def test_it_says_what_the_library_says(log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = f"evaluate run {log} --slice gap,repeat --json {tmp_path / 'found.json'}"
    assert cli.run(given.split()) == 0
    out, err = capsys.readouterr()
    assert not err
    read = read_log("town.parquet", user="user", item="item", time="when")
    found = evaluate("run", read, slices=["gap", "repeat"])
    assert json.loads((tmp_path / "found.json").read_text()) == json.loads(json.dumps(found.to_json()))
    for said in ("rope, seed 3, of town.parquet", "epoch 2, MRR 0.250", "popularity", "frequency", "routine"):
        assert said in " ".join(out.split())
    assert "by gap" in out
    assert "1h to 6h" in out
    assert "by repeat" in " ".join(out.split())
    # the line of a path is left whole, to be copied
    assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= 80


def test_what_is_asked_otherwise_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    given = f"evaluate run town.parquet {WHO} --time-access history --seen drop --anyway"
    assert cli.run(given.split()) == 0
    out = capsys.readouterr().out
    assert "not as it was trained: time access history, trained at request" in out
    assert "not as it was trained: seen items drop, trained at keep" in out
    assert "time access history, seen items drop" in " ".join(out.split())


BAD = {
    "no log": ("run", "Missing argument 'log'"),
    "missing run": (f"nope town.parquet {WHO}", "nope", "no such folder"),
    "missing log": (f"run nope.parquet {WHO}", "nope.parquet", "no such file"),
    "no columns": ("run town.parquet", "--user", "user, item, when"),
    "other data": (f"run smaller.parquet {WHO}", "data fingerprint", "split hash", "--anyway"),
    "other items": (f"run other.parquet {WHO} --anyway", "25 of 25 items", "1100", "trained on"),
    "another split": (f"run town.parquet {WHO} --split leave_last(k=2)", "leave_last_2", "--anyway"),
    "no such split": (f"run town.parquet {WHO} --split last", "'last'", "leave_last"),
    "another access": (f"run town.parquet {WHO} --time-access history", "trained at request", "--anyway"),
    "seen otherwise": (f"run town.parquet {WHO} --seen drop", "seen items drop, trained at keep", "--anyway"),
    "a slice twice": (f"run nope.parquet {WHO} --slice gap,hour,gap", "slice gap twice", "each once"),
    "no time": (f"run town.parquet {WHO} --time-access none --anyway", "cannot answer without times"),
    "no such access": (f"run town.parquet {WHO} --time-access now", "'now'", "none, history, request"),
    "no such slice": (f"run town.parquet {WHO} --slice age", "'age'", "gap, history, hour, repeat"),
    "another unit": (f"run town.parquet {WHO} --unit ms", "unit"),
    "no folder for the file": (f"run town.parquet {WHO} --json nowhere/a.json", "nowhere does not exist"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, *said = BAD[case]
    before = sorted(place.iterdir())
    assert cli.run(["evaluate", *given.split()]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for part in said:
        assert part in err
    assert sorted(place.iterdir()) == before


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["evaluate", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for said in ("--slice", "--anyway", "--time-access", "Examples:", "rota evaluate runs/flights flights"):
        assert said in out
