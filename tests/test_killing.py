"""kill -9 at twenty moments, half of them while a checkpoint is written: the end is the same, to the bit."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

CONFIG = """
log = "log.parquet"
checkpoint_every = 1

[reading]
user = "user"
item = "item"
time = "when"

[model]
encoding = "rope"
embedding_dim = 64
num_layers = 1
max_len = 10

[training]
epochs = 14
patience = 14
batch_size = 16
"""
COMMAND = [sys.executable, "-m", "rota", "train", "train.toml", "--out"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log of so many items that its checkpoints take a moment to write."""
    rng = np.random.default_rng(0)
    users, each, items = 60, 60, 3000
    table = {
        "user": np.repeat(np.arange(users), each),
        "item": rng.integers(0, items, users * each),
        "when": 1_700_000_000 + 3600 * np.tile(np.arange(each), users),
    }
    pa.parquet.write_table(pa.table(table), tmp_path / "log.parquet")
    (tmp_path / "train.toml").write_text(CONFIG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path


def checkpoints(out: Path) -> set[str]:
    return set(os.listdir(out / "checkpoints")) if (out / "checkpoints").is_dir() else set()


def kill_in_time(out: Path, rng: random.Random, writing: bool) -> bool:
    """Start, let it come some checkpoints further, and kill it; whether a checkpoint was half-written."""
    running = subprocess.Popen([*COMMAND, str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(rng.randint(1, 8)):
        before = checkpoints(out)
        while running.poll() is None and not any(name[0] != "." for name in checkpoints(out) - before):
            time.sleep(0.002)
    time.sleep(rng.uniform(0, 0.05))
    while writing and running.poll() is None and not any(name[0] == "." for name in checkpoints(out)):
        time.sleep(0.0005)
    running.kill()
    assert running.wait() == -9, "it ended before it was killed: the training is too short for this test"
    return any(name[0] == "." for name in checkpoints(out))


@pytest.mark.slow
def test_killed_at_twenty_moments_it_ends_the_same(place: Path) -> None:
    whole, out = place / "whole", place / "out"
    subprocess.run([*COMMAND, str(whole)], check=True, stdout=subprocess.DEVNULL)
    rng = random.Random(0)
    torn = [kill_in_time(out, rng, writing=bool(number % 2)) for number in range(20)]
    assert any(torn)
    subprocess.run([*COMMAND, str(out)], check=True, stdout=subprocess.DEVNULL)
    names = [
        "ranks.parquet",
        "models/transformer-seed0/model.safetensors",
        "models/transformer-seed0/artefact.toml",
    ]
    for name in names:
        assert (out / name).read_bytes() == (whole / name).read_bytes()
    kept = checkpoints(out)
    assert len(kept) == 2
    assert not any(name[0] == "." for name in kept)
