"""rota routines as a user meets it: what it prints, writes and refuses; no period is ever made up."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rota import cli
from rota.recipes.generating import changed_world, generate

COLUMNS = ["--user", "user", "--item", "item", "--time", "time"]
SMALL = {"users": 80, "events": 8000, "items": 200, "span": "40d"}
T0, DAY = 1_704_067_200, 86_400


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rota.commands._terminal.console.width", 80, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def made(kind: str, **changed: object) -> str:
    """File of a small world."""
    generate(changed_world(kind, {**SMALL, **changed}, {}), f"{kind}.parquet")
    return f"{kind}.parquet"


def written(name: str, **columns: object) -> str:
    pd.DataFrame(columns).to_parquet(name)
    return name


def run(*arguments: str) -> dict[str, object]:
    assert cli.run(["routines", *arguments, "--json", "found.json"]) == 0
    found: dict[str, object] = json.loads(Path("found.json").read_text())
    return found


def test_a_daily_routine_is_shown_and_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--json", "found.json", "--out", "found.png", "--bins", "lift.csv"]
    assert cli.run(["routines", made("daily"), *COLUMNS, *files]) == 0
    out, _ = capsys.readouterr()
    assert max(map(len, out.splitlines())) <= 80
    for said in (
        "routine: what a user does returns every day",
        "80 users",
        "2 h to 16 d",
        "lift by lag",
        "use:",
    ):
        assert said in out
    found = json.loads((folder / "found.json").read_text())
    assert found["schema"] == "rota.routines/1"
    assert found["verdict"] == "routine"
    (period,) = found["periods"]
    assert period["period_hours"] == 24.0
    assert 0 < period["lo"] < period["strength"] < period["hi"]
    assert found["prior"].startswith("wrapped_gaussian(24h, ")
    assert (folder / "found.png").read_bytes()[:4] == b"\x89PNG"
    assert {path.name for path in folder.iterdir()} == {
        "daily.parquet", "daily.truth.parquet", "daily.truth.toml", "found.json", "found.png", "lift.csv",
    }  # fmt: skip
    bins = pd.read_csv("lift.csv", index_col="lag_hours")
    assert 0.99 < bins["pairs"].sum() / found["pairs"]["counted"] <= 1  # but for those of half a bin
    some = bins[bins["same_by_chance"] > 0]
    np.testing.assert_allclose(some["lift"], some["same"] / some["same_by_chance"], rtol=1e-12)
    a_day, half_a_day = bins.loc[24.0], bins.loc[12.0]
    assert half_a_day["hi"] < a_day["lo"] < a_day["lift"] < a_day["hi"]


@pytest.mark.parametrize(
    ("jitter", "grid", "least", "most"), [(10, 1, 5, 60), (10, 300, 100, 500), (1200, 1, 1500, 3500)]
)
def test_a_peak_is_shown_as_sharp_as_it_is(
    folder: Path, jitter: float, grid: int, least: float, most: float
) -> None:
    """By seconds where buses keep them; by five minutes where the clock has no more."""
    rng, users, days = np.random.default_rng(0), 30, 30
    bus = np.broadcast_to([8, 13, 18], (users, days, 3)) * 3600 + rng.normal(0, jitter, (users, days, 3))
    walk = rng.uniform(0, DAY, (users, days, 3))  # at any time, to any of ten places
    times = T0 + DAY * np.arange(days)[:, None] + np.concatenate([bus, walk], axis=2)
    items = np.concatenate([np.broadcast_to([0, 1, 2], bus.shape), rng.integers(3, 13, walk.shape)], axis=2)
    name = written(
        "bus.parquet", user=np.repeat(np.arange(users), days * 6), item=items.ravel(),
        time=np.round(times / grid).astype(np.int64).ravel() * grid,
    )  # fmt: skip
    (period,) = run(name, *COLUMNS)["periods"]  # type: ignore[misc]
    assert period["period_hours"] == 24.0
    assert least <= period["half_width_hours"] * 3600 <= most


def test_no_routine_is_said_with_what_would_have_been_seen(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(made("aimless"), *COLUMNS)
    assert found["verdict"] == "nothing"
    assert found["periods"] == []
    assert found["recency"] is None
    out, _ = capsys.readouterr()
    assert "does not depend on how long ago" in out
    assert "would be seen" in out


def test_recency_is_no_routine(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = run(made("repeating"), *COLUMNS)
    assert found["verdict"] == "recency"
    assert "the likelier the sooner" in capsys.readouterr()[0]


def test_wall_clocks_are_used_unless_utc_is_asked_for(folder: Path) -> None:
    path = made("daily", zones=("Europe/Paris",), start="2024-03-10")
    local = run(path, *COLUMNS, "--zone", "Europe/Paris")
    utc = run(path, *COLUMNS, "--zone", "Europe/Paris", "--utc")
    given = run(path, *COLUMNS)
    assert [each["log"]["clock"] for each in (local, utc, given)] == ["local", "utc", "as given"]  # type: ignore[index]
    assert utc["octaves"] == given["octaves"] != local["octaves"]


def test_a_prepared_dataset_has_the_same_routines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = made("daily")
    assert cli.run(["prepare", path, *COLUMNS, "--out", "set"]) == 0
    prepared, read = run("set"), run(path, *COLUMNS)
    assert prepared["periods"] == read["periods"]
    capsys.readouterr()
    assert cli.run(["routines", "set", "--by", "kind"]) == 2
    assert "keeps items alone" in capsys.readouterr()[1]


def test_dates_alone_show_nothing_below_two_days(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A weekly routine in dates: found, and what cannot be is said."""
    generate(changed_world("weekly", {**SMALL, "span": "120d"}, {}), "weekly.parquet")
    log = pd.read_parquet("weekly.parquet")
    log["day"] = pd.to_datetime(log["time"] // DAY * DAY, unit="s").dt.strftime("%Y-%m-%d")
    log.to_csv("days.csv", index=False)
    found = run("days.csv", "--user", "user", "--item", "item", "--time", "day")
    assert [each["period_hours"] for each in found["periods"]] == [168.0]  # type: ignore[attr-defined]
    assert found["looked_for"]["shortest_hours"] == 48.0  # type: ignore[index]
    out = " ".join(capsys.readouterr()[0].split())
    assert "its times are dates alone, so nothing below 2 d can be seen" in out


def test_a_daily_routine_in_dates_is_not_made_up(folder: Path) -> None:
    log = pd.read_parquet(made("daily", span="80d"))
    log["time"] = log["time"] // DAY * DAY
    log.to_parquet("days.parquet")
    assert run("days.parquet", *COLUMNS)["periods"] == []


def test_a_category_may_return_where_items_do_not(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Items all distinct: refused, with the remedy; by category, which some rows lack, the day is found."""
    log = pd.read_parquet(made("daily"))
    log["category"] = log["item"].astype("string")
    log.loc[log.index % 5 == 0, "category"] = None
    log["item"] = np.arange(len(log))
    log.to_parquet("categories.parquet")
    assert cli.run(["routines", "categories.parquet", *COLUMNS]) == 2
    assert "so nothing can return: look at a category" in capsys.readouterr()[1]
    found = run("categories.parquet", *COLUMNS, "--by", "category")
    assert [each["period_hours"] for each in found["periods"]] == [24.0]  # type: ignore[attr-defined]
    assert found["log"]["left_out"] == 1600  # type: ignore[index]
    assert found["log"]["by"] == "category"  # type: ignore[index]
    assert "1,600 rows without user or category left out" in " ".join(capsys.readouterr()[0].split())


def test_what_cannot_be_told_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    many = {"user": rng.integers(0, 50, 4000), "item": rng.integers(0, 9, 4000)}
    hour = written("hour.parquet", **many, time=T0 + rng.integers(0, 3600, 4000))
    days = written("days.parquet", **many, time=T0 + DAY * rng.integers(0, 4, 4000))
    one = written(
        "one.parquet", user=np.ones(500, int), item=many["item"][:500], time=T0 + np.arange(500) * 7001
    )
    each = written(
        "each.parquet", user=np.arange(500), item=many["item"][:500], time=T0 + np.arange(500) * 7001
    )
    month = written("month.parquet", **many, time=T0 + rng.integers(0, 30 * DAY, 4000))
    none = written(
        "none.parquet", **many, time=T0 + np.arange(4000) * 700, cat=pd.array([None] * 4000, "string")
    )
    cases = [
        ([hour, *COLUMNS], "too short to see a period of 2h or more"),
        ([days, *COLUMNS], "too short to see a period of 2d or more"),
        ([month, *COLUMNS, "--shortest", "3d", "--longest", "1d"], "the shortest is above the longest"),
        ([month, *COLUMNS, "--by", ""], "expected the name of a column"),
        ([none, *COLUMNS, "--by", "cat"], "--by cat takes the place of the item"),
        ([one, *COLUMNS], "1 user with two events or more: expected at least 20"),
        ([each, *COLUMNS], "none with two events"),
        ([month, *COLUMNS, "--longest", "90d"], "periods up to 90d in 30 days"),
        ([month, *COLUMNS, "--longest", "soon"], "duration 'soon'"),
        ([month, *COLUMNS, "--by", "absent"], "no column 'absent'"),
        ([month, *COLUMNS, "--out", "x.doc"], "unknown format"),
        ([month, *COLUMNS, "--json", "no/where.json"], "does not exist"),
        ([month, *COLUMNS, "--json", "a", "--out", "a"], "expected two files"),
        ([month, *COLUMNS, "--json", "a", "--bins", "a"], "a for both --json and --bins: expected two files"),
        ([month, *COLUMNS, "--bins", month], f"--bins {month} is the log itself: choose another name"),
        ([month, *COLUMNS, "--zone", "Mars/Olympus"], "unknown time zone"),
    ]
    before = sorted(path.name for path in folder.iterdir())
    for arguments, said in cases:
        assert cli.run(["routines", *arguments]) == 2, arguments
        out, err = capsys.readouterr()
        assert not out
        assert len(err.splitlines()) == 1
        assert err.startswith("error: ")
        assert said in err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_log_of_less_than_three_days_says_nothing_of_a_day(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    user, visit = np.divmod(np.arange(50 * 6), 6)
    day, place = np.divmod(visit, 3)
    time = T0 + day * DAY + np.array([8, 13, 20])[place] * 3600 + rng.normal(0, 900, 300).astype(int)
    short = written("short.parquet", user=user, item=place, time=time)
    assert run(short, *COLUMNS)["verdict"] == "unknown"
    assert "a day: the log does not hold 2.5 of them" in " ".join(capsys.readouterr()[0].split())
    assert cli.run(["prior", "--log", short, *COLUMNS]) == 0
    said = " ".join(capsys.readouterr()[0].split())
    assert "nothing that can be told: the log is too short" in said


def test_the_longest_that_an_error_offers_is_to_be_had(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    time = T0 + rng.integers(0, int(36.41 * DAY), 4000)
    log = written("log.parquet", user=rng.integers(0, 50, 4000), item=rng.integers(0, 9, 4000), time=time)
    assert cli.run(["routines", log, *COLUMNS, "--longest", "60d"]) == 2
    (offered,) = re.findall(r"give --longest (\w+) or less", capsys.readouterr()[1])
    assert offered == "14d"
    run(log, *COLUMNS, "--longest", offered)


def test_a_period_may_be_the_longest_that_is_asked_for(folder: Path) -> None:
    for longest in ("24h", "25h"):
        found = run(made("daily"), *COLUMNS, "--longest", longest)
        assert [each["period_hours"] for each in found["periods"]] == [24.0]  # type: ignore[attr-defined]


def test_dates_read_with_a_zone_are_dates(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Midnights of UTC across the start of summer time in New York: at 19 h, then at 20 h of its clock."""
    log = pd.read_parquet(made("weekly", span="120d", start="2024-01-01"))
    log["time"] = log["time"] // DAY * DAY
    log.to_parquet("days.parquet")
    for more in ([], ["--utc"]):
        found = run("days.parquet", *COLUMNS, "--zone", "America/New_York", *more)
        assert found["looked_for"]["shortest_hours"] == 48.0  # type: ignore[index]
        assert [each["period_hours"] for each in found["periods"]] == [168.0]  # type: ignore[attr-defined]
        assert "dates alone, so nothing below 2 d can be seen" in " ".join(capsys.readouterr()[0].split())


def test_what_a_log_cannot_tell_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two dates 40 days apart have one lag; one visit a day at nine has no pair that is not of whole days."""
    rng = np.random.default_rng(0)
    many = {"user": rng.integers(0, 40, 2000), "item": rng.integers(0, 5, 2000)}
    two = written("two.parquet", **many, time=T0 + 40 * DAY * rng.integers(0, 2, 2000))
    found = run(two, *COLUMNS)
    assert found["verdict"] == "unknown"
    out = " ".join(capsys.readouterr()[0].split())
    assert "unknown: whether what a user does returns cannot be told from this log" in out
    assert "recency: no pairs of events on both sides of 10 d" in out
    user, day = np.divmod(np.arange(40 * 30), 30)
    time = T0 + day * DAY + 9 * 3600 + rng.normal(0, 900, 1200).astype(int)
    once = written("once.parquet", user=user, item=rng.integers(0, 3, 1200), time=time)
    found = run(once, *COLUMNS)
    assert found["periods"] == found["faint"] == []
    assert found["looked_for"]["no_pairs_to_tell"] == ["24h"]  # type: ignore[index]
    said = "a day: hardly any two events of a user lie between whole ones"
    assert said in " ".join(capsys.readouterr()[0].split())


def test_of_many_pairs_a_sample_is_stated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = run(made("daily"), *COLUMNS, "--most-pairs", "250000")
    pairs = found["pairs"]
    assert pairs["counted"] <= 250_000  # type: ignore[index]
    assert 0.3 < pairs["share_of_users"] < 1  # type: ignore[index]
    assert "a sample" in capsys.readouterr()[0]
