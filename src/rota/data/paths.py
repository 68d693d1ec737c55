"""Files of a source: one file, a folder of them, or a pattern such as ``logs/2024-*.parquet``."""

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rota.errors import InputError

__all__ = []


class Found(NamedTuple):
    """Files that make one log.

    Attributes:
        paths: In the order of their names; at least one.
        suffix: What all of them end in.
        where: What was asked for.
    """

    paths: tuple[Path, ...]
    suffix: str
    where: str


def suffix_of(path: Path, known: Sequence[str]) -> str | None:
    """The suffix by which a file is read, ``None`` where none is known."""
    return next((suffix for suffix in known if path.name.lower().endswith(suffix)), None)


def find_files(source: str, known: Sequence[str]) -> Found:
    """Files that a path means.

    Args:
        source: A file, a folder (all readable files in it and below), or a pattern with ``*``, ``?``, ``[]``.
        known: Suffixes that can be read.

    Raises:
        InputError: There is none, one cannot be read, or they are of several kinds.
    """
    path = Path(source)
    if path.is_dir() and (path / "dataset.toml").is_file():
        raise InputError(
            f"{source} is a prepared dataset: expected a log; give the log that it was made of, or load it "
            "(load_dataset, rota compare)"
        )
    if path.is_dir():
        paths = sorted(p for p in path.rglob("*") if p.is_file() and suffix_of(p, known))
        missing = f"{source} is a folder without a file that ends in {', '.join(known)}"
    elif path.exists():
        paths, missing = [path], ""
    else:
        paths = sorted(Path(name) for name in glob.glob(source, recursive=True))
        missing = f"{source}: no such file: check the path"
    if not paths:
        raise InputError(missing)
    return Found(tuple(paths), _one_suffix(paths, known), source)


def _one_suffix(paths: Sequence[Path], known: Sequence[str]) -> str:
    suffixes = [suffix_of(path, known) for path in paths]
    for path, suffix in zip(paths, suffixes, strict=True):
        if suffix is None or path.is_dir():
            what = "a folder" if path.is_dir() else "a file of unknown kind"
            raise InputError(f"{path} is {what}: expected a file that ends in {', '.join(known)}")
    if len(set(suffixes)) > 1:
        other = next(path for path, suffix in zip(paths, suffixes, strict=True) if suffix != suffixes[0])
        raise InputError(f"{paths[0]} and {other} are of two kinds: expected files of one kind for one log")
    return str(suffixes[0])


def brief(error: Exception) -> str:
    """A library's message on one line."""
    line = " ".join(str(error).split())
    return line if len(line) <= 200 else line[:197] + "..."
