"""rota prepare as a user meets it: what it prints, makes, refuses, and its exit code."""

from pathlib import Path

import pytest

from rota import cli
from rota.data import load_dataset

T0, DAY = 1_600_041_600, 86_400
COLUMNS = ["--user", "who", "--item", "what", "--time", "when"]
START = ["prepare", "log.csv", *COLUMNS, "--unit", "s"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a log in good health, one with a broken row, and one with zeros for times."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rota.commands._terminal.console.width", 100, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    rows = [f"u{k % 20},i{k % 7},{T0 + DAY * (k // 20) + 1801 * (k % 20)}" for k in range(400)]
    for name, more in (("log", []), ("broken", ["u1,i1"]), ("sick", ["u1,i1,0"])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["who,what,when", *rows, *more]) + "\n")
    return tmp_path


def made(folder: Path) -> list[str]:
    """What is there beside the logs, hidden or not."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".csv")


def test_what_is_printed_and_made(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--zone", "Europe/Paris", "--since", "2020-09-16", "--min-events", "18", "--out", "sets/town"]
    assert cli.run([*START, *asked]) == 0
    out, err = capsys.readouterr()
    assert max(map(len, out.splitlines())) <= 100
    assert not err
    lines = [" ".join(line.split()) for line in out.splitlines()]
    for said in (
        "log log.csv", "rows read 400", "events 360", "users 20", "items 7", "zone Europe/Paris",
        "unit s, as stated or by its type", "step events users items", "read 400 100.0% 20 7",
        "time_range(since=2020-09-16) 360 90.0% 20 7", "min_events(least=18) 360 90.0% 20 7",
    ):  # fmt: skip
        assert said in lines, out
    assert lines[-1] == "sets/town/"
    log = load_dataset("sets/town")
    assert (len(log), log.num_users, log.num_items, log.zone) == (360, 20, 7, "Europe/Paris")
    assert made(folder) == ["sets"]
    assert made(folder / "sets") == ["town"]


def test_rows_that_cannot_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = ["prepare", "broken.csv", *COLUMNS, "--out", "set"]
    assert cli.run(broken) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.splitlines()[-1].startswith("error: broken.csv, line 402: ")
    assert made(folder) == []
    assert cli.run([*broken, "--on-error", "skip"]) == 0
    assert "401, 1 skipped" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["prepare", "none.csv", *COLUMNS, "--out", "set"], "none.csv: no such file"),
        (["prepare", "nowhere", "--out", "set"], "log 'nowhere': no such file; as a source: unknown name"),
        (["prepare", "sick.csv", *COLUMNS, "--unit", "s", "--out", "set"], "since"),
        (["prepare", "log.csv", "--out", "set"], "which column is the user?"),
        ([*START, "--zone", "Mars/Olympus", "--out", "set"], "unknown time zone 'Mars/Olympus'"),
        ([*START, "--ties", "column", "--out", "set"], "--order"),
        ([*START, "--k-core", "0", "--out", "set"], "0"),
        (
            [*START, "--k-core", "300", "--out", "set"],
            "k_core(users=300, items=300) leaves nothing of 400 events",
        ),
        ([*START, "--since", "2020-09-16", "--until", "2020-09-15", "--out", "set"], "holds no time"),
        ([*START, "--out", "log.csv"], "log.csv exists: a dataset is never overwritten"),
        ([*START, "--out", "log.csv/set"], "cannot be written"),
        (START, "--out"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_makes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert cli.run(arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.splitlines()[-1].startswith("error: ")
    assert said in err.splitlines()[-1]
    assert made(folder) == []


def test_a_source_knows_its_columns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prepare", "flights", "--min-item-events", "2000", "--out", "air"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "zone America/New_York" in out
    assert "min_item_events(least=2000)" in out
    about = load_dataset("air").about
    assert (about.name, about.zone, about.absolute) == ("flights", "America/New_York", False)


def test_the_help_shows_how(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prepare", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Examples:" in out
    assert "rota prepare ratings.csv --user userId --item movieId --time timestamp --k-core 5" in out
    assert "duckdb://shop.duckdb#orders" in out
    for option in (
        "--zone-column",
        "--offset-column",
        "--epoch",
        "--ties",
        "--order",
        "--on-error",
        "--user-cap",
    ):
        assert option in out
