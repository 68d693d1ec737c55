"""rota train under torchrun: two processes are as one, and a worker that is killed costs nothing but time."""

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from rota import cli
from town import columns, town

CONFIG = """
log = "town.parquet"
arm = "rope"
checkpoint_every = 3

[reading]
user = "user"
item = "item"
time = "when"

[model]
embedding_dim = 8
num_layers = 1
max_len = 10

[training]
epochs = 13
patience = 13
batch_size = 6
accumulate = 2
loss = "full_softmax"
"""
EPOCHS, STEPS = 13, 4  # of an epoch
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
SOON = 60.0  # seconds; a worker that hangs is given half an hour by gloo
MODEL = "models/rope-seed0/model.safetensors"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A log and its config, and the current folder."""
    folder, before = tmp_path_factory.mktemp("place"), Path.cwd()
    pa.parquet.write_table(pa.table(columns(town(20, 5))), folder / "town.parquet")
    (folder / "town.toml").write_text(CONFIG, encoding="utf-8")
    os.chdir(folder)
    yield folder
    os.chdir(before)


@contextmanager
def spread(out: Path, *options: str) -> Iterator["subprocess.Popen[str]"]:
    """The job; what it says goes into files beside its folder, as does all that its workers say."""
    with out.with_suffix(".out").open("w") as said, out.with_suffix(".err").open("w") as error:
        command = [*TORCHRUN, *options, "-m", "rota", "train", "town.toml", "--out", str(out)]
        job = subprocess.Popen(
            command, stdout=said, stderr=error, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
        )
        try:
            yield job
        finally:
            if job.poll() is None:
                job.terminate()
            job.wait()


@pytest.fixture(scope="module")
def two(place: Path) -> Path:
    """Folder of a training in two processes that nobody disturbed."""
    with spread(place / "two") as job:
        assert job.wait(300) == 0, (place / "two.err").read_text()
    return place / "two"


def epochs(out: Path) -> list[dict[str, float]]:
    if not (out / "curves.csv").exists():
        return []
    with (out / "curves.csv").open(newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def asked(out: Path) -> tuple[list[str], np.ndarray]:
    """Users of the test and their ranks, of the model alone."""
    table = pa.parquet.read_table(out / "ranks.parquet")
    rows = [row for row in table.to_pylist() if row["arm"] == "rope"]
    return [row["user"] for row in rows], np.array([row["rank"] for row in rows])


def files(out: Path) -> set[str]:
    """Names of all that is there; those of checkpoints end in a digest of what is in them."""
    paths = (path.relative_to(out) for path in out.rglob("*"))
    return {str(path)[:27] if path.parts[0] == "checkpoints" else str(path) for path in paths}


@pytest.mark.slow
def test_two_processes_leave_what_one_leaves(place: Path, two: Path) -> None:
    one = place / "one"
    assert cli.run(["train", "town.toml", "--out", str(one)]) == 0
    own, other = epochs(one), epochs(two)
    assert [row["steps"] for row in own] == [STEPS * epoch for epoch in range(1, EPOCHS + 1)]  # 52 in all
    assert [(row["epoch"], row["steps"]) for row in own] == [(row["epoch"], row["steps"]) for row in other]
    losses = [[row["loss"] for row in rows] for rows in (own, other)]
    assert np.allclose(*losses, rtol=1e-5, atol=0)
    assert losses[0][-1] < 0.97 * losses[0][0]
    (users, ranks), (same, others) = asked(one), asked(two)
    assert len(set(users)) == len(users) == 20  # each once
    assert users == same
    assert (ranks == others).mean() >= 0.95
    assert files(one) == files(two)
    assert sum(name.startswith("checkpoints/0") for name in files(two)) == 2
    said = (place / "two.out").read_text().splitlines()
    for epoch in range(1, EPOCHS + 1):
        assert sum(line.startswith(f"epoch {epoch}: ") for line in said) == 1


def workers(job: "subprocess.Popen[str]") -> dict[int, int]:
    """Process of each rank."""
    found = {}
    for child in Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split():
        told = dict(
            part.split("=", 1) for part in Path(f"/proc/{child}/environ").read_text().split("\0") if part
        )
        if "RANK" in told:
            found[int(told["RANK"])] = int(child)
    return found


def kill(job: "subprocess.Popen[str]", out: Path, rank: int, after: int) -> None:
    """Let the training do so many epochs, and kill one of its processes."""
    while job.poll() is None and len(epochs(out)) < after:
        time.sleep(0.01)
    assert job.poll() is None, out.with_suffix(".err").read_text()
    os.kill(workers(job)[rank], signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_worker_costs_nothing_but_time(place: Path, two: Path) -> None:
    """Killed, the job ends and says so. The same command goes on; killed again, torchrun starts it anew."""
    out = place / "out"
    with spread(out) as job:
        kill(job, out, rank=1, after=3)
        assert job.wait(SOON) != 0
    error = out.with_suffix(".err").read_text()
    assert "the same command goes on from" in error
    assert not (out / "results.json").exists()
    before = len(epochs(out))
    assert before < EPOCHS - 3
    with spread(out, "--max-restarts", "1") as job:
        kill(job, out, rank=0, after=before + 2)
        assert job.wait(300) == 0, out.with_suffix(".err").read_text()
    assert "exitcode: -9" in out.with_suffix(".err").read_text()
    for name in (MODEL, "ranks.parquet", "results.json"):
        assert (out / name).read_bytes() == (two / name).read_bytes(), name
    assert files(out) == files(two)
    own, other = ([dict(row, targets_per_second=0.0) for row in epochs(folder)] for folder in (out, two))
    assert own == other


def test_to_shard_among_one_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["train", "town.toml", "--out", "alone", "--set", "sharded=true"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: sharded with one process: expected two at least")
    assert error.count("\n") == 1
    assert not Path("alone").exists()
