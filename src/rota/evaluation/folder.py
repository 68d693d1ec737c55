"""The two files of a run: results.json and ranks.parquet, written once and never over another."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rota.errors import InputError
from rota.evaluation.run import Run
from rota.types import Int64Array

__all__ = ["require_free"]

RESULTS, RANKS = "results.json", "ranks.parquet"
Ids: TypeAlias = pa.Array | pa.ChunkedArray | Sequence[Any] | NDArray[Any]


def require_free(folder: Path | str, names: Sequence[str] = ()) -> None:
    """Refuse a folder that already holds a run; ask before the work begins.

    Args:
        folder: Where the run is to be written; it need not exist.
        names: Further files that must not be there, beside the results and the ranks.

    Raises:
        InputError: It holds one of the files, or is not a folder.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: expected a folder to write results to; choose another name")
    for name in (RESULTS, RANKS, *names):
        if (folder / name).exists():
            raise InputError(f"{folder / name} exists already and is not overwritten: choose another folder")


def write_run(folder: Path, results: Mapping[str, object], ranks: pa.Table) -> None:
    """Write both files, the results last: where they exist, the run is complete."""
    require_free(folder)
    text = json.dumps(results, indent=2, allow_nan=False, default=_plain, ensure_ascii=False) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / RANKS, partial(pq.write_table, ranks))
    _replace(folder / RESULTS, lambda path: path.write_text(text, encoding="utf-8"))


def as_ids(values: Ids) -> pa.Array:
    """Ids of any kind as one Arrow array."""
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    return values if isinstance(values, pa.Array) else pa.array(values)


def ranks_table(
    users: pa.Array, targets: pa.Array, offsets: Int64Array | None, runs: Sequence[Run]
) -> pa.Table:
    """One row for each run and target; the rank is null where the target was no candidate.

    Args:
        users: Who was asked each question.
        targets: All that did come.
        offsets: Targets of each question; ``None`` where each has one. With it, a column ``question`` numbers
            the questions.
        runs: Their ranks.
    """
    count = len(targets)
    columns: dict[str, pa.Array | pa.ChunkedArray] = {
        "arm": pa.array(np.repeat([run.arm for run in runs], count)).dictionary_encode(),
        "seed": pa.array([run.seed for run in runs], pa.int64()).take(np.repeat(np.arange(len(runs)), count)),
    }
    ranks = np.concatenate([run.ranks for run in runs])
    if offsets is not None:
        question = np.repeat(np.arange(len(users)), np.diff(offsets))
        users = users.take(pa.array(question))
    columns["user"] = pa.chunked_array([users] * len(runs))
    columns["target"] = pa.chunked_array([targets] * len(runs))
    columns["rank"] = pa.array(ranks, mask=ranks == 0)
    if offsets is not None:
        columns["question"] = pa.array(np.tile(question, len(runs)))
    return pa.table(columns)


def read_run(folder: Path) -> tuple[dict[str, object], pa.Table]:
    """Read both files.

    Raises:
        InputError: One is missing or cannot be read.
    """
    path = folder / RESULTS
    try:
        results: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
        path = folder / RANKS
        return results, pq.read_table(path)
    except FileNotFoundError:
        raise InputError(f"{path} is missing: expected the folder of a finished comparison") from None
    except (ValueError, OSError) as error:  # pa.ArrowInvalid is a ValueError
        raise InputError(
            f"{path} cannot be read ({' '.join(str(error).split())}): run the comparison again"
        ) from None


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write(temporary)
        temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} {value!r} cannot be written as JSON")
