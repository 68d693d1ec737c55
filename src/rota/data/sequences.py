"""Histories on the disk: flat arrays that are mapped into memory, not read."""

import json
import shutil
from pathlib import Path
from uuid import uuid4

import numpy as np

from rota.errors import InputError
from rota.histories import Histories
from rota.types import Int64Array
from rota.units import ticks_per_second

__all__ = ["load_sequences", "save_sequences"]

_FORMAT = "rota sequences 1"
_ARRAYS = ("items", "times", "offsets")


def save_sequences(histories: Histories, folder: str | Path) -> None:
    """Write histories into a new folder, which appears only once it is complete.

    Args:
        histories: All users' events.
        folder: Folder to make: ``items.npy``, ``times.npy``, ``offsets.npy`` (int64) and ``sequences.json``.

    Raises:
        InputError: The folder exists, or cannot be made.
    """
    folder = Path(folder)
    if folder.exists():
        raise InputError(f"{folder} exists: expected a folder that does not, so that nothing is overwritten")
    partial = folder.with_name(f".{folder.name}.{uuid4().hex}")
    try:
        partial.mkdir(parents=True)
        for name in _ARRAYS:
            np.save(partial / f"{name}.npy", np.asarray(getattr(histories, name), dtype="<i8"))
        about = {"format": _FORMAT, "num_items": histories.num_items, "unit": histories.unit}
        (partial / "sequences.json").write_text(json.dumps(about) + "\n", encoding="utf-8")
        partial.rename(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def load_sequences(folder: str | Path) -> Histories:
    """Map saved histories into memory, read-only: nothing is read until it is used.

    Args:
        folder: What `save_sequences` wrote.

    Raises:
        InputError: The folder is missing, not of this format, or damaged.
    """
    folder = Path(folder)
    try:
        about = json.loads((folder / "sequences.json").read_text(encoding="utf-8"))
        if about["format"] != _FORMAT:
            raise InputError(f"{folder}: format {about['format']!r}: expected {_FORMAT!r}: prepare it again")
        items, times, offsets = (_map(folder / f"{name}.npy") for name in _ARRAYS)
        histories = Histories(items, times, offsets, int(about["num_items"]), str(about["unit"]))
        ticks_per_second(histories.unit)
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{folder}: no complete sequences: {error}: prepare it again") from error
    if not (len(offsets) and offsets[0] == 0 and offsets[-1] == len(items) == len(times)):
        raise InputError(f"{folder}: items, times and offsets do not fit each other: prepare it again")
    return histories


def _map(path: Path) -> Int64Array:
    array: Int64Array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.dtype != np.int64 or array.ndim != 1:
        raise ValueError(f"{path.name} holds {array.dtype} of {array.ndim} dimensions, not a row of int64")
    return array
