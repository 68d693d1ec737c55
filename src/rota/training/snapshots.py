"""Snapshots: all that a training needs to go on, in whole files or none; nothing is unpickled."""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import load, save
from torch import Tensor

from rota.errors import InputError

__all__ = ["Snapshots"]

_KEPT = 2
_KEY, _SUFFIX, _PART = "snapshot", ".safetensors", ".part"


@dataclass(frozen=True)
class Snapshot:
    """A training between two steps.

    Attributes:
        epoch: In which the next step is, from 0.
        step: The next step, in that epoch, from 0.
        facts: What else is known, as JSON has it.
        tensors: Weights, and what goes with them, by name.
    """

    epoch: int
    step: int
    facts: Mapping[str, Any]
    tensors: Mapping[str, Tensor]


class Snapshots:
    """The last two snapshots of one training, in a folder.

    A file is written under another name, flushed to the disk, and renamed; its name ends in the digest of
    what it holds, so that one that was torn all the same, or copied halfway, is never loaded.

    Attributes:
        folder: Where they are; made with the first.
        owner: Digest of all that decides what the training comes to; another training's are refused.
        every: Steps after which one is written, beside that of each epoch; 0: at epochs alone.
        torn: Files that were passed over because they do not hold what their name says.
    """

    def __init__(self, folder: str | Path, owner: str, every: int = 0) -> None:
        if every < 0:
            raise InputError(f"every {every}: expected a number of steps, or 0 for none within an epoch")
        self.folder, self.owner, self.every = Path(folder), owner, every
        self.torn: tuple[Path, ...] = ()

    def save(self, snapshot: Snapshot) -> Path:
        """Write a snapshot, then remove all but the last two.

        Raises:
            OSError: It could not be written, for instance because the disk is full; those before it stay.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        facts = {"owner": self.owner, "epoch": snapshot.epoch, "step": snapshot.step, **snapshot.facts}
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in snapshot.tensors.items()}
        data = save(tensors, {_KEY: json.dumps(facts)})
        path = self.folder / f"{snapshot.epoch:06}-{snapshot.step:08}-{_digest(data)}{_SUFFIX}"
        part = self.folder / f".{path.name}{_PART}"
        try:
            write_through(part, data)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        _settle(self.folder)
        self._tidy(path)
        return path

    def latest(self) -> Snapshot | None:
        """The last snapshot that is whole; ``None`` where there is none.

        Raises:
            InputError: It is another training's.
        """
        for path in reversed(self._files()):
            data = path.read_bytes()
            if path.stem.rpartition("-")[2] != _digest(data):
                self.torn = (*self.torn, path)
                continue
            facts = _facts(data)
            if facts.pop("owner") != self.owner:
                raise InputError(
                    f"{path} is of a training that was set up otherwise, or of other data: expected one "
                    "of this training; choose another folder, or remove that one"
                )
            return Snapshot(facts.pop("epoch"), facts.pop("step"), facts, load(data))
        return None

    def _files(self) -> list[Path]:
        """Oldest first."""
        return sorted(path for path in self.folder.glob(f"*{_SUFFIX}") if not path.name.startswith("."))

    def _tidy(self, newest: Path) -> None:
        """Remove what is older than the last two, and what a killed process left half-written."""
        before = [path for path in self._files() if path.name < newest.name and path not in self.torn]
        keep = {newest, *before[1 - _KEPT :]}
        for path in self.folder.iterdir():
            if path not in keep and path.suffix in (_SUFFIX, _PART):
                with suppress(FileNotFoundError):
                    path.unlink()


def write_through(path: Path, data: bytes) -> None:
    """Write a file, and wait until the disk has it."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """Wait until the disk knows the names in a folder, on systems that let a folder be opened."""
    with suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _facts(data: bytes) -> dict[str, Any]:
    """What the header of a file in safetensors' format says beside its tensors."""
    size = int.from_bytes(data[:8], "little")
    return dict(json.loads(json.loads(data[8 : 8 + size])["__metadata__"][_KEY]))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
