"""rota inspect as a user meets it: what it prints, writes, refuses, and its exit code."""

import json
from pathlib import Path

import pytest

from rota import cli

T0, DAY = 1_600_041_600, 86_400
COLUMNS = ["--user", "who", "--item", "what", "--time", "when"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a log in good health and one with zeros for missing times."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rota.commands._terminal.console.width", 80, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    rows = [f"u{k % 20},i{k % 7},{T0 + DAY * (k // 20) + 1801 * (k % 20)}" for k in range(400)]
    (tmp_path / "well.csv").write_text("\n".join(["who,what,when", *rows]) + "\n")
    (tmp_path / "sick.csv").write_text("\n".join(["who,what,when", *rows, "u1,i1,0"]) + "\n")
    return tmp_path


def test_a_log_in_good_health(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["inspect", "well.csv", *COLUMNS, "--unit", "s", "--zone", "Europe/Paris"]) == 0
    out, _ = capsys.readouterr()
    assert max(map(len, out.splitlines())) <= 80
    for said in ("400 of 20 users on 7 items", "2020-09-14", "Europe/Paris", "prepare accepts this log"):
        assert said in out


def test_an_error_is_the_exit_code_and_the_report_is_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["inspect", "sick.csv", *COLUMNS, "--unit", "s", "--json", "found.json"]) == 1
    out, _ = capsys.readouterr()
    assert "prepare stops at this log" in out
    assert "--since 2020-09-14" in out
    found = json.loads((folder / "found.json").read_text())
    assert found["stops"]
    assert found["findings"][0]["code"] == "placeholder_times"
    assert (found["events"], found["users"], found["items"]) == (401, 20, 7)


def test_both_files_are_written(folder: Path) -> None:
    written = ["--json", "found.json", "--html", "found.html"]
    assert cli.run(["inspect", "well.csv", *COLUMNS, "--unit", "s", *written]) == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "found.html",
        "found.json",
        "sick.csv",
        "well.csv",
    ]
    assert json.loads((folder / "found.json").read_text())["schema"] == 1
    assert (folder / "found.html").read_text().startswith("<!doctype html>")


def test_an_unknown_zero_has_no_dates(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["inspect", "well.csv", *COLUMNS, "--unit", "s", "--epoch", "unknown"]) == 0
    out, _ = capsys.readouterr()
    assert "from an unknown zero" in out
    assert "2020" not in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.csv", *COLUMNS], "no such file"),
        (["well.csv", "--user", "nobody", "--item", "what", "--time", "when"], "no column 'nobody'"),
        (["well.csv", *COLUMNS, "--zone", "Mars/Olympus"], "unknown time zone"),
        (["well.csv", *COLUMNS, "--unit", "h"], "time unit 'h'"),
        (["well.csv", *COLUMNS, "--json", "no/folder.json"], "does not exist"),
        (["well.csv", *COLUMNS, "--json", "a", "--html", "a"], "expected two files"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert cli.run(["inspect", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.splitlines()[-1].startswith("error: ")
    assert said in err
    assert sorted(path.name for path in folder.iterdir()) == ["sick.csv", "well.csv"]
