"""A prepared dataset: a folder of flat arrays that are mapped into memory, not read."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import tomli_w
from numpy.lib import format as npy

from rota.data.about import About, Step
from rota.data.arranging import Arranged
from rota.data.events import Ties
from rota.data.fingerprints import ColumnDigest, column_digest, fingerprint
from rota.data.log import Log
from rota.data.paths import brief
from rota.errors import InputError
from rota.types import Int64Array
from rota.units import ticks_per_second

__all__ = ["is_dataset", "load_dataset"]

_FORMAT = "rota dataset 1"
ABOUT = "dataset.toml"
_ITEMS, _TIMES, _LOCAL, _OFFSETS = "items.npy", "times.npy", "local.npy", "offsets.npy"
_USERS, _CATALOGUE = "users.arrow", "catalogue.arrow"


def is_dataset(folder: str | Path) -> bool:
    """Whether a path is a prepared dataset."""
    return Path(folder, ABOUT).is_file()


def load_dataset(folder: str | Path) -> Log:
    """Map a prepared dataset into memory, read-only: nothing is read until it is used.

    Args:
        folder: What `prepare` wrote.

    Raises:
        InputError: The folder is missing, not of this format, or damaged.
    """
    folder = Path(folder)
    if not is_dataset(folder):
        raise InputError(f"{folder}: no prepared dataset (no {ABOUT} in it): make one with `rota prepare`")
    try:
        table = tomllib.loads((folder / ABOUT).read_text(encoding="utf-8"))
        if table["format"] != _FORMAT:
            raise ValueError(f"format {table['format']!r}: expected {_FORMAT!r}")
        about = _about(table)
        items, times, offsets = (_map(folder / name) for name in (_ITEMS, _TIMES, _OFFSETS))
        local = _map(folder / _LOCAL) if table["local"] else None
        users, catalogue = _ids(folder / _USERS), _ids(folder / _CATALOGUE)
        log = Log(items, times, offsets, local, users, catalogue, about, table["fingerprint"])
    except (OSError, EOFError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise InputError(
            f"{folder}: damaged, or of another version: {brief(error)}: prepare it again"
        ) from error
    _check(log, folder)
    return log


class Written(NamedTuple):
    """What was written.

    Attributes:
        fingerprint: Of the log.
        local: Whether there are local times.
    """

    fingerprint: str
    local: bool


def write_arrays(arranged: Arranged, folder: Path, unit: str, advance: Callable[[int], None]) -> Written:
    """Write a log that is in order, piece by piece, without holding it in memory.

    Args:
        arranged: The log; its pieces are read to the end.
        folder: Where to; it exists.
        unit: Unit of the times.
        advance: Told of the rows of each piece written.

    Returns:
        The fingerprint, and whether there are local times.
    """
    rows = int(arranged.offsets[-1])
    np.save(folder / _OFFSETS, arranged.offsets)
    _write_ids(folder / _USERS, arranged.user_ids)
    _write_ids(folder / _CATALOGUE, arranged.item_ids)
    with (
        _Column(folder / _ITEMS, rows) as items,
        _Column(folder / _TIMES, rows) as times,
        _Column(folder / _LOCAL, rows) as local,
    ):
        for piece in arranged.pieces:
            items.append(piece.items)
            times.append(piece.times)
            if piece.local is not None:
                local.append(piece.local)
            advance(len(piece.items))
    columns = [column_digest(arranged.offsets), items.digest.hex(), times.digest.hex()]
    if local.rows:
        columns.append(local.digest.hex())
    else:
        (folder / _LOCAL).unlink()
    return Written(fingerprint(unit, arranged.user_ids, arranged.item_ids, *columns), bool(local.rows))


def write_about(folder: Path, about: About, written: Written, choices: Mapping[str, object]) -> None:
    """Write ``dataset.toml``: last, since a folder is a dataset by it.

    Args:
        folder: Where the arrays are.
        about: What the log was made of.
        written: What `write_arrays` returned.
        choices: What was asked for, as tables.
    """
    facts = {name: value for name, value in asdict(about).items() if value is not None}
    facts["steps"] = [asdict(step) for step in about.steps]
    table = {"format": _FORMAT, **facts, "ties": about.ties.value, **written._asdict(), **choices}
    (folder / ABOUT).write_text(tomli_w.dumps(table), encoding="utf-8")


class _Column:
    """An array file that grows: a header for the rows to come, then the rows."""

    def __init__(self, path: Path, rows: int) -> None:
        self.file = path.open("wb")
        header = {"descr": "<i8", "fortran_order": False, "shape": (rows,)}
        npy.write_array_header_1_0(self.file, header)
        self.rows, self.digest = 0, ColumnDigest()

    def append(self, rows: Int64Array) -> None:
        """Write some rows."""
        self.file.write(np.ascontiguousarray(rows, dtype="<i8").data)
        self.digest.add(rows)
        self.rows += len(rows)

    def __enter__(self) -> "_Column":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()


def _write_ids(path: Path, ids: pa.Array) -> None:
    table = pa.table({"id": ids})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())


def _about(table: Mapping[str, Any]) -> About:
    ticks_per_second(table["unit"])
    steps = tuple(Step(**step) for step in table["steps"])
    names = set(About.__dataclass_fields__) - {"ties", "steps"}
    given = {name: table[name] for name in names if name in table}
    return About(**given, ties=Ties(table["ties"]), steps=steps)


def _map(path: Path) -> Int64Array:
    array: Int64Array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.dtype != np.int64 or array.ndim != 1:
        raise ValueError(f"{path.name} holds {array.dtype} of {array.ndim} dimensions, not a row of int64")
    return array


def _ids(path: Path) -> pa.Array:
    with pa.memory_map(str(path)) as source:
        column = pa.ipc.open_file(source).read_all()["id"]
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _check(log: Log, folder: Path) -> None:
    offsets = log.offsets
    fits = len(offsets) and offsets[0] == 0 and offsets[-1] == len(log.items) == len(log.times)
    fits = fits and len(offsets) == log.num_users + 1 and (log.local is None or len(log.local) == len(log))
    if not fits:
        raise InputError(f"{folder}: its arrays do not fit each other: prepare it again")
