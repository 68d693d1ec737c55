"""`rota generate`: three files, a table of what was made, and one line for what cannot be made."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from rota.cli import run
from rota.data.worlds import ShiftWorkers, read_world

SMALL = ["--users", "40", "--events", "2000", "--span", "60d"]


def test_a_town(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "town.parquet"
    assert run(["generate", str(out), *SMALL]) == 0
    said = capsys.readouterr().out
    assert all(
        word in said for word in ("daily", "day_before", "aimless", "36h", "2,000 of 40 users", str(out))
    )
    assert {path.name for path in tmp_path.iterdir()} == {
        "town.parquet",
        "town.truth.parquet",
        "town.truth.toml",
    }
    assert len(pq.read_table(out)) == 2000


def test_options_reach_the_world(tmp_path: Path) -> None:
    out = tmp_path / "shifts.parquet"
    of_world = [
        "--kind",
        "shifts",
        "--items",
        "77",
        "--seed",
        "5",
        "--start",
        "2023-05-06",
        "--hours",
        "office",
    ]
    zones = ["--zone", "Europe/Paris", "--zone", "Asia/Tokyo"]
    more = [
        "--drift",
        "30d",
        "--novelty",
        "0.1",
        "--popularity",
        "0.5",
        "--spread",
        "0.2",
        "--resolution",
        "1min",
    ]
    people = ["--period", "30h", "--slots", "2", "--strength", "0.9", "--jitter", "10min", "--order", "time"]
    assert run(["generate", str(out), *SMALL, *of_world, *zones, *more, *people]) == 0
    world = read_world(tmp_path / "shifts.truth.toml")
    assert world.kinds == (ShiftWorkers(period="30h", slots=2, strength=0.9, jitter="10min"),)
    assert (world.users, world.events, world.items, world.seed) == (40, 2000, 77, 5)
    assert (world.start, world.span, world.hours) == ("2023-05-06", "60d", "office")
    assert (world.zones, world.zone_shares, world.drift) == (("Europe/Paris", "Asia/Tokyo"), None, "30d")
    assert (world.novelty, world.popularity, world.spread, world.resolution) == (0.1, 0.5, 0.2, "1min")
    times = pq.read_table(out)["time"].to_numpy()
    assert np.all(np.diff(times) >= 0)
    assert np.all(times % 60 == 0)


def test_a_world_again_and_changed(tmp_path: Path) -> None:
    first, again, other = (tmp_path / name for name in ("a.parquet", "b.parquet", "c.csv.gz"))
    assert run(["generate", str(first), *SMALL, "--kind", "repeating"]) == 0
    recipe = str(tmp_path / "a.truth.toml")
    assert run(["generate", str(again), "--world", recipe]) == 0
    assert pq.read_table(first) == pq.read_table(again)
    assert run(["generate", str(other), "--world", recipe, "--seed", "1"]) == 0
    assert read_world(tmp_path / "c.truth.toml").seed == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["log.json"], "error: log.json: expected a name that ends in .parquet, .csv, .csv.gz"),
        (["absent/log.csv"], "error: absent/log.csv: the folder absent does not exist"),
        (["log.csv", "--kind", "city"], "error: unknown world 'city': expected one of aimless, daily"),
        (["log.csv", "--kind", "daily", "--world", "x.toml"], "error: --kind daily beside --world x.toml"),
        (["log.csv", "--world", "x.toml"], "error: x.toml: no such file"),
        (
            ["log.csv", "--kind", "aimless", "--slots", "2"],
            "error: --slots: the people of aimless have no such",
        ),
        (["log.csv", "--zone", "Mars/Olympus"], "error: unknown time zone 'Mars/Olympus'"),
        (["log.csv", "--order", "item"], "error: row order 'item': expected one of user, time"),
        (["log.csv", "--hours", "noon"], "error: hours 'noon': expected one of flat, evening, office"),
        (["log.csv", "--users", "0"], "error: 0 users"),
        (["log.csv", "--items", "4"], "error: 4 items with novelty 0.1 for 6 habits a person: too few"),
    ],
)
def test_what_cannot_be_made_is_one_line(
    arguments: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["generate", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith(says)
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
