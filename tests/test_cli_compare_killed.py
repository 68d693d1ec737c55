"""rota compare is killed at random moments and run again until it is done: it ends with the same bits."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from town import columns, town

ARMS, SEEDS = ("none", "rope"), 3
OPTIONS = (
    f"log.parquet --user user --item item --time when --arms {','.join(ARMS)} --seeds {SEEDS} --epochs 6 "
    "--patience 6 --embedding-dim 16 --batch-size 4 --processes 2"
).split()
KILLS, RUNS, PATIENCE = 6, 40, 60.0


def start(folder: Path, out: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rota", "compare", *OPTIONS, "--out", out],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")  # where there is no such file, nothing is looked for
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def gone(pids: list[int]) -> bool:
    until = time.monotonic() + PATIENCE
    while any(map(is_there, pids)):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def content(folder: Path) -> dict[str, bytes]:
    """All files but records: those know the source, which may be worked on while this test runs."""
    names = ("trial.safetensors",)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in names
    }


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_with_the_same_bits(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table(columns(town(20, 6))), tmp_path / "log.parquet")
    began = time.monotonic()
    with start(tmp_path, "whole") as process:
        said = process.communicate()[0]
    assert process.returncode == 0, said
    whole = time.monotonic() - began
    moments, kills = random.Random(time.time_ns()), 0
    for _ in range(RUNS):
        with start(tmp_path, "out") as process:
            workers: list[int] = []
            latest = 1.0 if kills else 0.3  # the first time it is not done yet, however fast it is
            until = time.monotonic() + (moments.uniform(0.05, latest) * whole if kills < KILLS else 1e9)
            while process.poll() is None and time.monotonic() < until:
                time.sleep(0.02)
            if process.poll() is None:
                workers = children(process.pid)
                process.send_signal(signal.SIGKILL)
                kills += 1
            said = process.communicate()[0]
        assert process.returncode in (0, -signal.SIGKILL), said
        assert gone(workers), f"workers {workers} outlive their parent"
        if (tmp_path / "out" / "results.json").exists():
            break
    assert kills > 0
    own, other = content(tmp_path / "whole"), content(tmp_path / "out")
    assert list(own) == [name for name in other if name != ".lock"]
    assert [name for name in own if own[name] != other[name]] == []
    arms = json.loads(own["results.json"])["arms"]
    assert [(run["arm"], run["seed"]) for run in arms[: len(ARMS) * SEEDS]] == [
        (arm, seed) for arm in ARMS for seed in range(SEEDS)
    ]
