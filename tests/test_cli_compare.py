"""rota compare, interrupted and run again by the same command."""

import json
import signal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from rota import cli
from rota.kernels import Harmonics, Measured
from rota.recipes.live import LiveWatcher
from rota.recipes.plan import Plan
from rota.toml import read_recipe, write_recipe
from rota.training.progress import Progress
from town import columns, town

GIVEN = (
    "log.parquet --user user --item item --time when --arms none,rope --seeds 1 --epochs 1 "
    "--embedding-dim 16 --out out --processes 1"
)
OPTIONS = GIVEN.split()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pa.parquet.write_table(pa.table(columns(town(12, 4))), tmp_path / "log.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_same_command_goes_on_and_says_what_was_done_before(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Impatient(LiveWatcher):
        def step(self, arm: str, seed: int, progress: Progress) -> None:
            if arm == "rope":
                signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr("rota.commands.compare.LiveWatcher", Impatient)
        assert cli.run(["compare", *OPTIONS]) == 130
    out = capsys.readouterr().out
    assert "finished so far are in out/models/" in out
    assert "the same command with --out out goes on from there" in out
    assert cli.run(["compare", *OPTIONS]) == 0
    (before,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("✓ none")]
    assert before.startswith("✓ none, seed 0: done before, MRR validation")
    arms = [run["arm"] for run in json.loads(Path("out/results.json").read_text())["arms"]]
    assert arms[:2] == ["none", "rope"]


def test_an_unfinished_folder_of_another_command_is_refused_before_the_log_is_read(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["compare", *OPTIONS]) == 0
    (place / "out" / "results.json").unlink()
    (place / "log.parquet").unlink()
    capsys.readouterr()
    assert cli.run(["compare", *OPTIONS, "--epochs", "7"]) == 2
    assert capsys.readouterr().err == (
        "error: out is of a comparison with protocol.training.epochs 1, and this has 7: expected the same, "
        "but for arms, seeds and prior, to go on with it; choose another folder for another comparison\n"
    )


def test_a_prior_may_be_a_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    law = Measured(Harmonics("24h", [1, 2], [0.75, 0.25]))
    write_recipe(place / "law.toml", law)
    arms = ["clockrope" if option == "none,rope" else option for option in OPTIONS]
    assert cli.run(["compare", *arms, "--prior", "nowhere.toml"]) == 2
    assert capsys.readouterr().err.startswith("error: nowhere.toml")
    assert cli.run(["compare", *arms, "--prior", "law.toml"]) == 0
    assert read_recipe(place / "out" / "plan.toml", Plan).prior == (law,)


@pytest.mark.parametrize("option", ["--processes", "--threads"])
def test_numbers_that_mean_nothing_are_refused(
    place: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["compare", *OPTIONS, option, "0"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert option in error
    assert not (place / "out").exists()
