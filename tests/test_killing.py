"""kill -9 at twenty moments, half of them while a checkpoint is written: the end is the same, to the bit."""

import os
import random
import signal
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from preloaded import Preloaded, preloaded

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
PATIENCE = 60.0
TRAIN = ["train", "train.toml", "--out"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
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
    return tmp_path


def checkpoints(out: Path) -> set[str]:
    return set(os.listdir(out / "checkpoints")) if (out / "checkpoints").is_dir() else set()


def is_torn(out: Path) -> bool:
    return any(name[0] == "." for name in checkpoints(out))


def kill_in_time(rota: Preloaded, out: Path, rng: random.Random, writing: bool) -> bool:
    """Start, let it come some checkpoints further, and kill it; whether a checkpoint was half-written."""
    process = rota.start([*TRAIN, str(out)])
    until = time.monotonic() + PATIENCE
    for _ in range(rng.randint(1, 8)):
        before = checkpoints(out)
        while not any(name[0] != "." for name in checkpoints(out) - before):
            assert time.monotonic() < until, "no checkpoint comes: the training is too short for this test"
            time.sleep(0.002)
    time.sleep(rng.uniform(0, 0.05))
    while writing and not is_torn(out):
        assert time.monotonic() < until
        time.sleep(0.0005)
    os.kill(process, signal.SIGKILL)
    assert rota.ended() == -signal.SIGKILL, "it ended before it was killed"
    return is_torn(out)


@pytest.mark.slow
def test_killed_at_twenty_moments_it_ends_the_same(place: Path) -> None:
    whole, out = place / "whole", place / "out"
    with preloaded(place) as rota:
        rota.run([*TRAIN, str(whole)])
        rng = random.Random(0)
        torn = [kill_in_time(rota, out, rng, writing=bool(number % 2)) for number in range(20)]
        assert any(torn)
        rota.run([*TRAIN, str(out)])
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
