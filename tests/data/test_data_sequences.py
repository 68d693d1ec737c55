"""Sequences: a round trip, mapped and read-only, complete or not there."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from rota.data import load_sequences, save_sequences
from rota.data import sequences as module
from rota.errors import InputError
from rota.histories import Histories


def histories(events: int = 1000, unit: str = "ms") -> Histories:
    rng = np.random.default_rng(0)
    offsets = np.array([0, events // 4, events // 4, events], dtype=np.int64)
    return Histories(rng.integers(0, 50, events), 2**62 + rng.integers(0, 10**6, events), offsets, 50, unit)


def test_round_trip(tmp_path: Path) -> None:
    saved = histories()
    save_sequences(saved, tmp_path / "deep" / "folder")
    loaded = load_sequences(str(tmp_path / "deep" / "folder"))
    for name in ("items", "times", "offsets"):
        array = getattr(loaded, name)
        assert isinstance(array, np.memmap)
        assert array.dtype == np.int64
        assert np.array_equal(array, getattr(saved, name))
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert (loaded.num_items, loaded.unit, loaded.num_users) == (50, "ms", 3)
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["folder"]


def test_loading_reads_nothing(tmp_path: Path) -> None:
    save_sequences(histories(4_000_000), tmp_path / "big")
    took = []
    for _ in range(5):
        start = time.perf_counter()
        load_sequences(tmp_path / "big")
        took.append(time.perf_counter() - start)
    assert min(took) < 0.05


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    save_sequences(histories(), tmp_path / "run")
    with pytest.raises(InputError, match="run exists: expected a folder that does not"):
        save_sequences(histories(8), tmp_path / "run")
    assert len(load_sequences(tmp_path / "run").items) == 1000


def test_a_folder_that_fails_half_way_never_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save = np.save

    def full(path: Path, array: np.ndarray) -> None:
        if path.name == "offsets.npy":
            raise OSError(28, "No space left on device")
        save(path, array)

    monkeypatch.setattr(module.np, "save", full)
    with pytest.raises(InputError, match="run: cannot be written: No space left on device"):
        save_sequences(histories(), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_complete_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no complete sequences"):
        load_sequences(tmp_path / "nothing")
    folder = tmp_path / "run"
    save_sequences(histories(), folder)
    about = folder / "sequences.json"
    good = about.read_text()
    for bad, message in (
        ("{", "no complete sequences"),
        ("[]", "no complete sequences"),
        (json.dumps({"format": "other"}), "format 'other'"),
        (good.replace('"ms"', '"h"'), "time unit 'h'"),
    ):
        about.write_text(bad)
        with pytest.raises(InputError, match=message):
            load_sequences(folder)
    about.write_text(good)
    np.save(folder / "times.npy", np.zeros(5, dtype=np.int64))
    with pytest.raises(InputError, match="do not fit each other"):
        load_sequences(folder)
    np.save(folder / "times.npy", np.zeros(1000))
    with pytest.raises(InputError, match=r"times\.npy holds float64"):
        load_sequences(folder)
    (folder / "times.npy").unlink()
    with pytest.raises(InputError, match="no complete sequences"):
        load_sequences(folder)
