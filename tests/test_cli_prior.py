"""rota prior as a user meets it: what it prints, writes and refuses."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from rota import cli
from rota.frequencies import draw
from rota.kernels import Measured, WrappedGaussian, parse_kernel
from rota.toml import read_recipe
from town import columns, town

DAILY = "wrapped_gaussian(24h, 2h)"
PROFILES = """
import math
def box(lag):
    return 1.0 if abs((lag + 43200) % 86400 - 43200) < 7200 else 0.0
def bump(lag):
    return math.exp(-lag * lag / 2 / 7200**2)
def odd(lag):
    return math.cos(lag / 3600) + 0.5 * math.sin(lag / 3600)
def leaving(lag):
    raise SystemExit(3)
"""
LEAVING = "import sys\nsys.exit(1)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, as wide as a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rota.commands._terminal.console.width", 80, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def written(folder: Path) -> dict[str, object]:
    return json.loads((folder / "prior.json").read_text())


def test_a_design_is_printed_within_80_columns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prior", DAILY]) == 0
    out, err = capsys.readouterr()
    assert not err
    assert max(map(len, out.splitlines())) <= 80
    for said in (
        "admissible    yes",
        "harmonics up to 6 of 24h, folded",
        "cuts 0.06% of the mass",
        "up to 0.587",
        "never rotate  20.9% of pairs by the law",
        "738",
        "385",
        "one turn takes",
    ):
        assert said in out
    assert re.search(r"^ +1 ┤▀.*▀$", out, re.MULTILINE)  # a peak at either end of the day
    assert not list(folder.iterdir())


def test_the_json_is_complete_and_true(folder: Path) -> None:
    assert (
        cli.run(["prior", DAILY, "--pairs", "16", "--heads", "2", "--seed", "3", "--json", "prior.json"]) == 0
    )
    assert [path.name for path in folder.iterdir()] == ["prior.json"]
    found = written(folder)
    law = WrappedGaussian("24h", "2h").spectrum().truncate().fold()
    drawn = draw(law, 16, 2, seed=3)
    assert found["expression"] == DAILY
    assert found["certificate"]["verdict"] == "yes"  # type: ignore[index]
    assert found["frequencies"]["cycles_per_second"] == drawn.cycles_per_second.tolist()  # type: ignore[index]
    assert found["frequencies"]["harmonics"] == drawn.harmonics.tolist()  # type: ignore[index, union-attr]
    assert found["truncation"] == {
        "s": 6, "cycles_per_second": 6 / 86400, "mass_cut": law.mass_cut, "sup_error": law.sup_error,
    }  # fmt: skip
    still = {"expected": float(law.pmf(0)), "drawn": float((drawn.harmonics == 0).mean())}
    assert found["still_share"] == pytest.approx(still)
    assert found["pairs_needed"] == {"error": 0.1, "confidence": 0.95, "bound": 738, "normal": 385}
    lags = np.linspace(0, 86400, 721)
    profile = np.cos(2 * np.pi * np.multiply.outer(lags, drawn.cycles_per_second)).mean(-1).T
    off = profile - WrappedGaussian("24h", "2h")(lags)
    assert found["rmse"]["per_head"] == pytest.approx(np.sqrt((off**2).mean(1)).mean())  # type: ignore[index]
    assert found["rmse"]["mean_over_heads"] == pytest.approx(np.sqrt((off.mean(0) ** 2).mean()))  # type: ignore[index]
    low, high = found["rmse"]["expected"]["per_head"]  # type: ignore[index]
    assert 0.02 < low < high < 0.08


@pytest.mark.parametrize(
    ("given", "law", "s", "folded"),
    [
        (["--no-fold"], "lattice", 6, False),
        (["--truncate", "4"], "lattice", 4, True),
        (["--truncate", "4.8h"], "lattice", 5, True),
        (["--truncate", "5h", "--method", "iid"], "lattice", 4, True),
    ],
)
def test_what_is_asked_of_the_draw(given: list[str], law: str, s: int, folded: bool, folder: Path) -> None:
    assert cli.run(["prior", DAILY, *given, "--heads", "2", "--json", "prior.json"]) == 0
    found = written(folder)
    assert (found["law"]["kind"], found["law"]["folded"]) == (law, folded)  # type: ignore[index]
    assert found["truncation"]["s"] == s  # type: ignore[index]
    assert (np.min(found["frequencies"]["harmonics"]) < 0) != folded  # type: ignore[index]


@pytest.mark.parametrize(
    ("expression", "kind", "period"),
    [
        ("gaussian(2h)", "density", None),
        ("cosine(24h) + gaussian(3d)", "mixture", None),
        ("cosine(24h) * 0.7 + cosine(7d) * 0.3", "lattice", 604_800.0),
        ("constant()", "lattice", None),
    ],
)
def test_every_kind_of_law(expression: str, kind: str, period: float | None, folder: Path) -> None:
    assert cli.run(["prior", expression, "--heads", "2", "--pairs", "8", "--json", "prior.json"]) == 0
    found = written(folder)
    assert found["law"]["kind"] == kind  # type: ignore[index]
    if period:
        assert found["law"]["period"] == period  # type: ignore[index]


def test_what_is_not_admissible_is_a_result(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prior", "periodic_gaussian(24h, 4h)", "--heads", "2", "--json", "prior.json"]) == 0
    out, err = capsys.readouterr()
    assert not err
    for said in ("admissible    no: ", "harmonic 4", "witness", "the nearest admissible profile"):
        assert said in out
    found = written(folder)
    assert found["certificate"]["verdict"] == "no"  # type: ignore[index]
    nearest = parse_kernel(found["drawn"]["expression"])  # type: ignore[index]
    asked = parse_kernel("periodic_gaussian(24h, 4h)")
    lags = np.linspace(0, 86400, 5001)
    apart = np.abs(nearest(lags) - asked(lags)).max()
    assert apart == pytest.approx(found["drawn"]["distance"], rel=0.05)  # type: ignore[index]


def test_a_function_of_ones_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "my_profiles_of_tests.py").write_text(PROFILES)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = list(sys.path)
    given = ["prior", "--function", "my_profiles_of_tests:bump", "--heads", "2", "--pairs", "8"]
    assert cli.run([*given, "--json", "prior.json"]) == 0
    assert sys.path == before
    assert "admissible    undecided" in capsys.readouterr().out
    assert written(folder)["expression"] == "function(my_profiles_of_tests:bump)"


BAD = {
    "no profile": ([], "neither of expression and --function", "wrapped_gaussian(24h, 2h)"),
    "two profiles": ([DAILY, "--function", "a:b"], "both of expression and --function"),
    "period of an expression": ([DAILY, "--period", "24h"], "--period 24h", "--function"),
    "unreadable": (["cosine(24h"], "character 11", "expected"),
    "unknown kernel": (["sine(24h)"], "'sine'", "cosine"),
    "no module": (["--function", "no_such_module:f"], "no_such_module", "cannot be imported"),
    "no name": (["--function", "math"], "'math'", "module:name"),
    "unknown method": ([DAILY, "--method", "sobl"], "'sobl'", "sobol"),
    "no pairs": ([DAILY, "--pairs", "0"], "--pairs", "rota prior --help"),
    "negative seed": ([DAILY, "--seed=-1"], "seed -1"),
    "odd truncation": ([DAILY, "--truncate", "soon"], "'soon'"),
    "harmonic of a density": (["gaussian(2h)", "--truncate", "4"], "harmonic 4", "shortest cycle"),
    "no error": ([DAILY, "--error", "0"], "error 0"),
    "too sure": ([DAILY, "--confidence", "1"], "confidence 1"),
    "no folder": ([DAILY, "--json", "no/prior.json"], "no/prior.json", "folder"),
    "no picture": ([DAILY, "--out", "prior.doc"], "prior.doc", ".png"),
    "one of two files": ([DAILY, "--json", "prior.json", "--out", "prior.doc"], "prior.doc", ".png"),
    "the other of two": ([DAILY, "--out", "prior.png", "--json", "no/prior.json"], "no/prior.json", "folder"),
    "one file twice": ([DAILY, "--out", "prior.png", "--json", "./prior.png"], "--json and --out"),
    "a log and a profile": ([DAILY, "--log", "a.csv"], "--log a.csv beside an expression", "not both"),
    "a log and a function": (["--function", "a:b", "--log", "a.csv"], "--log a.csv beside --function"),
    "period of a log": (["--log", "a.csv", "--period", "24h"], "--period 24h", "searched for periods"),
    "column without a log": ([DAILY, "--user", "u"], "--user u without --log", "name the log"),
    "law without a log": ([DAILY, "--save", "law.toml"], "--save law.toml without --log"),
    "no log": (["--log", "no.csv", "--user", "u", "--item", "i", "--time", "t"], "no.csv"),
    "law and figures in one": (["--log", "a", "--save", "a.x", "--json", "a.x"], "a.x for both --json and"),
    "no such law": (["no.toml"], "no.toml", "no such file"),
    "tiny error": ([DAILY, "--error", "1e-200"], "error 1e-200", "at least 1e-06"),
    "negative truncation": ([DAILY, "--truncate", "-1"], "'-1'", "largest harmonic", "shortest cycle"),
    "a million pairs": ([DAILY, "--pairs", "1000000"], "1,000,000 pairs", "at most 100,000"),
    "a ladder": ([DAILY, "--method", "geometric"], "'geometric' does not draw from a law", "rope_ladder"),
    "no share": (["gaussian(2h) * 1e-320 + laplace(2h) * 1e10"], "weight", "1e-15", "leave"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, *said = BAD[case]
    assert cli.run(["prior", "--heads", "1", "--pairs", "4", *given]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for part in said:
        assert part in err
    assert "Traceback" not in out + err
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (
            "more_profiles_of_tests:odd",
            ("not even", "give its period"),
        ),  # why it is none, and why none is near
        ("more_profiles_of_tests:leaving", ("raises at a lag of 0 s", "SystemExit: 3")),
        ("leaving_of_tests:anything", ("cannot be imported", "SystemExit: 1")),
    ],
)
def test_a_function_that_cannot_be_drawn_is_told_in_one_line(
    function: str,
    said: tuple[str, ...],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "more_profiles_of_tests.py").write_text(PROFILES)
    (folder / "leaving_of_tests.py").write_text(LEAVING)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert cli.run(["prior", "--function", function, "--heads", "1", "--pairs", "4"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for part in said:
        assert part in err


def test_files_are_refused_before_anything_is_computed_and_appear_together(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import rota.commands.prior as command

    def never(*_: object, **__: object) -> None:
        raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr(command, "design", never)
        for given in (["--json", "no/a.json"], ["--out", "a.doc"], ["--out", "a.png", "--json", "no/a"]):
            assert cli.run(["prior", DAILY, *given]) == 2
        assert not list(folder.iterdir())
    given = ["prior", DAILY, "--heads", "1", "--pairs", "4", "--json", "a", "--out", "a.png"]
    with monkeypatch.context() as patched:
        patched.setattr(command, "_show", never)
        with pytest.raises(AssertionError):
            cli.run(given)
        assert not list(folder.iterdir())
    assert cli.run(given) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["a", "a.png"]
    assert json.loads((folder / "a").read_text())["expression"] == DAILY
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")


def test_help_names_every_option_and_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prior", "--help"]) == 0
    out = capsys.readouterr().out
    options = "pairs heads seed method fold truncate error confidence function period json out log save"
    for option in options.split(" "):
        assert f"--{option}" in out
    assert "rota prior 'wrapped_gaussian(24h, 2h)'" in out


def test_a_law_is_measured_on_a_log(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet.write_table(pa.table(columns(town(30, 12))), folder / "town.parquet")
    given = ["prior", "--log", "town.parquet", "--user", "user", "--item", "item", "--time", "when"]
    given += ["--pairs", "16", "--heads", "2"]
    files = ["--json", "prior.json", "--save", "law.toml", "--out", "law.png"]
    assert cli.run([*given, *files]) == 0
    out, err = capsys.readouterr()
    assert not err
    assert max(map(len, out.splitlines())) <= 80
    for said in ("log       town.parquet", "31 users", "24h to harmonic", "admissible    yes"):
        assert said in out
    assert "inside the 95% band" in " ".join(out.split())
    assert sorted(path.name for path in folder.iterdir()) == [
        "law.png", "law.toml", "prior.json", "town.parquet",
    ]  # fmt: skip
    law = read_recipe(folder / "law.toml", Measured)
    found = written(folder)
    assert parse_kernel(found["expression"]) == law  # type: ignore[arg-type]
    assert found["measured"]["log"] == "town.parquet"  # type: ignore[index]
    assert found["measured"]["expression"] == found["expression"]  # type: ignore[index]
    assert found["truncation"]["mass_cut"] == 0  # type: ignore[index]
    text = (folder / "law.toml").read_text()
    assert text.startswith("# log: town.parquet\n# measured: ")
    assert f"# fingerprint: {found['measured']['fingerprint']}\n" in text  # type: ignore[index]
    assert (folder / "law.png").read_bytes().startswith(b"\x89PNG")
    # The file is a profile as any other is.
    assert cli.run(["prior", "law.toml", "--pairs", "16", "--heads", "2", "--json", "again.json"]) == 0
    again = json.loads((folder / "again.json").read_text())
    assert again["frequencies"] == found["frequencies"]


def test_a_log_that_tells_nothing_is_refused_by_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    users, day = np.repeat(np.arange(25), 30), 86_400
    when = 1_700_000_000 + np.tile(np.arange(30), 25) * day + rng.integers(0, day // 2, 750)
    logs = {
        "few": (users // 5, users % 3, "few.parquet: 5 users with two events or more: expected at least 20"),
        "apart": (users, np.arange(750), "apart.parquet: no user has the same item twice"),
        "once": (np.arange(750), users % 3, "once.parquet: 750 users, none with two events or more"),
    }
    for name, (user, item, said) in logs.items():
        parquet.write_table(pa.table({"user": user, "item": item, "when": when}), folder / f"{name}.parquet")
        given = ["--user", "user", "--item", "item", "--time", "when", "--heads", "1", "--pairs", "4"]
        assert cli.run(["prior", "--log", f"{name}.parquet", *given]) == 2
        err = capsys.readouterr().err
        assert err.startswith(f"error: {said}")
        assert err.count("\n") == 1


def test_a_law_of_nothing_has_no_harmonics(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["prior", "measured(constant())", "--heads", "1", "--pairs", "4"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "law a constant: no pair turns" in out
    assert "folding changes nothing" in out


def test_help_and_prior_need_no_torch(folder: Path) -> None:
    code = f"""
import sys
from rota.cli import run
run(["--help"])
heavy = {{"torch", "scipy", "pyarrow", "matplotlib"}} & sys.modules.keys()
assert not heavy, heavy
assert run(["prior", "{DAILY}", "--heads", "1", "--pairs", "4"]) == 0
heavy = {{"torch", "pyarrow", "matplotlib"}} & sys.modules.keys()
assert not heavy, heavy
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
