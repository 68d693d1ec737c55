"""Output folder: a run gets one of its own; what is there is never written over, or left half-made."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rota.errors import InputError

__all__: list[str] = []

MODELS, PLAN = "models", "plan.toml"
_PART, _BEFORE = ".part", ".before"


def require_empty(folder: Path) -> None:
    """Refuse a folder that holds anything.

    Raises:
        InputError: It exists and is not an empty folder, or cannot be read.
    """
    try:
        full, file = folder.is_dir() and any(folder.iterdir()), folder.exists() and not folder.is_dir()
    except OSError as error:
        raise InputError(f"{folder} cannot be read ({error.strerror}): choose another folder") from error
    if full:
        raise InputError(
            f"{folder} is not empty: an earlier result is never overwritten; choose another folder"
        )
    if file:
        raise InputError(f"{folder} is a file: expected a new folder; choose another name")


def model_name(arm: str, seed: int) -> str:
    """Name of the folder of one training's model."""
    return f"{arm.replace(':', '-')}-seed{seed}"


@contextmanager
def claim(folder: Path) -> Iterator[Path]:
    """Make the folder of a run, with a folder for its models.

    If the run fails or is interrupted before a model is finished, what it made is taken away again;
    finished models stay.

    Raises:
        InputError: It holds something already, or cannot be made.
    """
    require_empty(folder)
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MODELS).mkdir()  # refuses the second of two runs that found the folder empty
    except OSError as error:
        _remove_empty(made)
        raise InputError(f"{folder} cannot be made ({error.strerror}): choose another folder") from error
    try:
        yield folder
    except BaseException:
        if not any((folder / MODELS).iterdir()):
            (folder / PLAN).unlink(missing_ok=True)
            _remove_empty([folder / MODELS, *made])
        raise


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """Give a hidden folder beside, to be filled: it takes the name once that is done, and is removed else.

    What has the name already is replaced then, and not before; whether it may be is for the caller to know.
    The hidden name is this process's own: what is left of one that was killed is removed, and another that is
    not quite dead yet is not disturbed.
    """
    sweep(folder.parent, folder.name)
    partial, before = (
        folder.with_name(f".{folder.name}.{os.getpid()}{suffix}") for suffix in (_PART, _BEFORE)
    )
    try:
        yield partial
        if folder.exists():
            folder.rename(before)
        partial.rename(folder)
    finally:
        for path in (partial, before):
            shutil.rmtree(path, ignore_errors=True)


def sweep(folder: Path, name: str = "") -> None:
    """Remove what processes that were killed left half-made in a folder.

    Args:
        folder: It need not exist.
        name: Of what they were making; by default anything.
    """
    if not folder.is_dir():
        return
    hidden = f".{name}." if name else "."
    for path in folder.iterdir():
        if not path.name.startswith(hidden) or path.suffix not in (_PART, _BEFORE):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, innermost first; one that holds anything stays."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
