"""rota train: from a config to a model, its errors by file, table and key, and one run at a time."""

import csv
import errno
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from filelock import FileLock

from rota import cli
from rota.kernels import Cosine
from rota.recipes import training_run
from rota.recipes.config_file import read_config
from rota.recipes.stopping import stoppable
from rota.recipes.train_config import TrainConfig
from rota.serving.artefact import load_artefact
from rota.toml import write_recipe
from rota.training import snapshots
from rota.training.processes import DeadProcessError
from town import columns, town

CONFIG = """
log = "town.parquet"
arm = "rope"
checkpoint_every = 1

[reading]
user = "user"
item = "item"
time = "when"

[model]
embedding_dim = 8
num_layers = 1
max_len = 10

[training]
epochs = 2
batch_size = 8
loss = "full_softmax"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log, its config, and one training of it."""
    folder = tmp_path_factory.mktemp("place")
    pa.parquet.write_table(pa.table(columns(town(20, 5))), folder / "town.parquet")
    (folder / "town.toml").write_text(CONFIG, encoding="utf-8")
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert cli.run(["train", "town.toml", "--out", "whole"]) == 0
    finally:
        os.chdir(before)
    return folder


@pytest.fixture(autouse=True)
def there(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "100")


def said(capsys: pytest.CaptureFixture[str]) -> str:
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error


def test_it_leaves_a_model_that_the_other_commands_take(capsys: pytest.CaptureFixture[str]) -> None:
    assert sorted(path.name for path in Path("whole").iterdir() if not path.name.startswith(".")) == [
        "attention.png", "checkpoints", "curves.csv", "events.out.tfevents.rota", "learning.png", "models",
        "ranks.parquet", "results.json", "train.toml",
    ]  # fmt: skip
    given = "evaluate whole town.parquet --user user --item item --time when --json again.json"
    assert cli.run(given.split()) == 0
    figures = [json.loads(Path(name).read_text())["arms"] for name in ("whole/results.json", "again.json")]
    own, again = ({run["arm"]: run["metrics"] for run in arms} for arms in figures)
    assert own == again
    assert set(own) == {"rope", "popularity", "popularity_now", "frequency", "routine"}
    assert "rope" in capsys.readouterr().out


def test_its_curves_are_what_the_results_say() -> None:
    with Path("whole/curves.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    results = json.loads(Path("whole/results.json").read_text())
    assert [float(row["validation"]) for row in rows] == results["arms"][0]["validation"]
    assert [row["epoch"] for row in rows] == ["0", "1"]
    assert all(float(row["loss"]) > 0 and float(row["targets_per_second"]) > 0 for row in rows)
    assert {row["learning_rate"] for row in rows} == {"0.002"}
    facts = load_artefact("whole/models/rope-seed0").provenance
    assert facts.validation_mrr == max(results["arms"][0]["validation"])


def test_the_same_command_after_the_end_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def content() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in Path("whole").rglob("*") if path.is_file()}

    before = content()
    assert cli.run(["train", "town.toml", "--out", "whole"]) == 0
    assert "has ended before" in capsys.readouterr().out
    assert content() == before


def test_the_printed_config_is_the_same_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        "--set",
        "training.epochs=3",
        "--set",
        "arm=rope+clockrope",
        "--set",
        "training.loss=bce(num_negatives=2)",
    ]
    assert cli.run(["train", "town.toml", *given, "--set", "split=leave_last(k=2)", "--print-config"]) == 0
    printed = capsys.readouterr().out
    (tmp_path / "printed.toml").write_text(printed, encoding="utf-8")
    config = read_config(tmp_path / "printed.toml", TrainConfig)
    assert config == read_config("town.toml", TrainConfig, [*given[1::2], "split=leave_last(k=2)"])
    assert (config.training.epochs, config.arm, config.model.num_layers) == (3, "rope+clockrope", 1)
    assert tomllib.loads(printed)["training"]["loss"]["num_negatives"] == 2
    unset = [line for line in printed.splitlines() if line.startswith("#")]
    assert {"# sample_users: not set", "# reading.zone: not set", "# training.clip: not set"} <= {*unset}
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("training.epohs=3", "town.toml: [training] unknown key 'epohs': did you mean 'epochs'? expected"),
        ("sead=3", "town.toml: unknown key 'sead': did you mean 'seed'? expected some of log, arm"),
        ("training.epochs=three", "town.toml: [training] epochs is 'three': expected int"),
        ("training.epochs=0", "town.toml: [training] epochs 0: expected at least 1"),
        ("training.loss.recipe=3", "town.toml: --set 'training.loss.recipe=3'"),
        ("training.loss=bcee", "town.toml: [training] loss: loss 'bcee': expected one of"),
        ("training.loss=bce(negatives=3)", "town.toml: [training] loss: loss 'bce(negatives=3)':"),
        ("model.recipe=models.gru", "town.toml: [model] recipe 'models.gru': expected one of models.hstu"),
        ("model.recipe=training.recipe", "town.toml: [model] recipe 'training.recipe': expected one of"),
        ("model.encoding.pairs=3", "town.toml: [model.encoding] unknown key 'pairs'"),
        ("model=3", "town.toml: model is 3: expected Model"),
        ("prior=['cosine(24h)', 'cosin(7d)']", "town.toml: prior:"),
        ("prior=['law.toml']", "town.toml: prior: law.toml: no such file"),
        ("reading.user_id=u", "town.toml: [reading] unknown key 'user_id': did you mean 'user'?"),
        ("arm=ropes", "town.toml: unknown arm 'ropes'"),
        ("seed=-1", "town.toml: seed -1: expected 0 or above"),
        ("training", "--set 'training': expected table.key=value"),
        ("device=tpu", "town.toml: device 'tpu': expected cpu or cuda"),
        ("model.recipe=sasrec", "[model] recipe 'sasrec': did you mean 'models.sasrec'? expected one of"),
        ("model.recipe=models/../x", "[model] recipe 'models/../x': expected one of models.hstu"),
        ("model.encoding.recipe=rop", "[model.encoding] recipe 'rop': did you mean 'encodings.rope'?"),
        ("sample_users=0", "town.toml: sample_users 0: expected at least 1"),
        ("log=''", "town.toml: log '': expected a file"),
        ("model.encoding=trope", "arm 'rope' and an encoding of the model: expected one of them"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_file_table_and_key(
    setting: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["train", "town.toml", "--out", "new", "--set", setting]) == 2
    assert message.replace("town.toml: --set", "--set") in said(capsys)
    assert not Path("new").exists()


def test_the_prior_of_a_config_may_be_a_file(tmp_path: Path) -> None:
    write_recipe(tmp_path / "law.toml", Cosine("24h"))
    settings = ["arm=clockrope", f"prior=['{tmp_path / 'law.toml'}']"]
    assert read_config("town.toml", TrainConfig, settings).prior == (Cosine("24h"),)


def test_a_config_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["train", str(tmp_path / "no.toml")]) == 2
    assert "no such file" in said(capsys)
    (tmp_path / "bad.toml").write_text("log = ", encoding="utf-8")
    assert cli.run(["train", str(tmp_path / "bad.toml")]) == 2
    assert "bad.toml: not TOML" in said(capsys)
    (tmp_path / "short.toml").write_text("seed = 1", encoding="utf-8")
    assert cli.run(["train", str(tmp_path / "short.toml")]) == 2
    assert "short.toml: lacks the key 'log'" in said(capsys)


def test_how_often_it_is_kept_and_by_whom_it_is_helped_is_no_other_training() -> None:
    given = ["--set", "checkpoint_every=7", "--set", "training.num_workers=1"]
    assert cli.run(["train", "town.toml", "--out", "whole", *given]) == 0


def test_what_a_training_of_other_data_came_to_is_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pa.parquet.write_table(pa.table(columns(town(21, 5))), tmp_path / "town.parquet")
    whole = Path("whole").absolute()
    monkeypatch.chdir(tmp_path)
    assert cli.run(["train", str(whole.parent / "town.toml"), "--out", str(whole)]) == 2
    assert "whole is of a training on other data than" in said(capsys)


def test_a_signal_during_the_last_validation_counts_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask, asked = training_run.ask_shared, []

    def interrupted(*given: Any) -> Any:
        asked.append(given)
        if len(asked) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return ask(*given)

    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(training_run, "ask_shared", interrupted)
        assert cli.run(["train", "town.toml", "--out", str(out)]) == 143
    assert "stopped by SIGTERM" in capsys.readouterr().err
    assert not (out / "results.json").exists()
    assert cli.run(["train", "town.toml", "--out", str(out)]) == 0
    assert (out / "ranks.parquet").read_bytes() == Path("whole/ranks.parquet").read_bytes()


def left_alone() -> None:
    """What a training does whose other process has died, and torchrun in the meantime."""
    with stoppable() as stopper:
        try:
            with stopper.training():
                raise DeadProcessError("died")
        finally:
            os.kill(os.getpid(), signal.SIGTERM)  # before handlers are as they were


def test_the_word_of_a_process_that_is_left_comes_before_the_signal_that_ends_it() -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(DeadProcessError):
            left_alone()
        os.kill(os.getpid(), signal.SIGTERM)  # after
    finally:
        signal.signal(signal.SIGTERM, before)


def test_another_training_is_refused_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["train", "town.toml", "--out", "whole", "--set", "training.epochs=5"]) == 2
    assert "whole is of a training with training.epochs 2, and this has 5" in said(capsys)
    (tmp_path / "mine.txt").write_text("mine")
    assert cli.run(["train", "town.toml", "--out", str(tmp_path)]) == 2
    assert "is not empty" in said(capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_second_run_in_the_same_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "held"
    folder.mkdir()
    with FileLock(folder / ".lock"):
        assert cli.run(["train", "town.toml", "--out", str(folder)]) == 2
    assert "held is in use by another run" in said(capsys)
    assert not (folder / "train.toml").exists()


def start(*given: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "rota", "train", *given],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_keeps_what_was_learnt(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """Stopped once there is a checkpoint, then the same command: the end is that of the undisturbed run."""
    out = tmp_path / "out"
    running = start("town.toml", "--out", str(out))
    while running.poll() is None and not list(out.glob("checkpoints/*.safetensors")):
        time.sleep(0.01)
    running.send_signal(number)
    _, error = running.communicate()
    assert running.returncode == code, error
    assert f"stopped by {number.name}" in error
    assert not (out / "results.json").exists()
    assert cli.run(["train", "town.toml", "--out", str(out)]) == 0
    for name in ("ranks.parquet", "models/rope-seed0/model.safetensors"):
        assert (out / name).read_bytes() == Path("whole", name).read_bytes()


def test_a_full_disk_is_said_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write, left = snapshots.write_through, [3]

    def full(path: Path, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            path.write_bytes(data[:99])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, data)

    with monkeypatch.context() as patched:
        patched.setattr(snapshots, "write_through", full)
        assert cli.run(["train", "town.toml", "--out", str(tmp_path / "out")]) == 2
    assert "No space left on device" in said(capsys)
    assert cli.run(["train", "town.toml", "--out", str(tmp_path / "out")]) == 0
    for name in ("ranks.parquet", "models/rope-seed0/model.safetensors"):
        assert (tmp_path / "out" / name).read_bytes() == Path("whole", name).read_bytes()
