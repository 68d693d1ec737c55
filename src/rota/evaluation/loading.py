"""A comparison back from its folder."""

from pathlib import Path
from types import UnionType
from typing import Any

import numpy as np
import pyarrow as pa

from rota.errors import InputError
from rota.evaluation.folder import RANKS, RESULTS, read_run
from rota.evaluation.results import SCHEMA, Comparison
from rota.evaluation.run import Run
from rota.types import Int64Array


def load_comparison(folder: Path | str) -> Comparison:
    """Read what `Comparison.save` wrote; the metrics are computed from the ranks again.

    Raises:
        InputError: A file is missing, cannot be read, is of another schema, lacks a key or has one of
            another type, or does not fit the other.
    """
    folder = Path(folder)
    results, ranks = read_run(folder)
    found = results.get("schema") if isinstance(results, dict) else None
    if found != SCHEMA:
        raise InputError(
            f"results in {folder} have schema {found}: expected {SCHEMA}; read them with their own rota"
        )

    def at(kind: type | UnionType, *keys: str | int) -> Any:
        return _at(folder / RESULTS, results, kind, *keys)

    arms = [
        (at(str, "arms", row, "arm"), at(int | None, "arms", row, "seed"), _curve(at(dict, "arms", row)))
        for row in range(len(at(list, "arms")))
    ]
    metrics = tuple(at(dict, "arms", 0, "metrics"))
    _check_columns(ranks, folder / RANKS)
    runs = _runs(arms, ranks, folder)
    one = ranks[: len(runs[0].ranks)]
    offsets = _offsets(one, folder / RANKS)
    return Comparison(
        time_access=at(str, "time_access"),
        seen=at(str, "seen"),
        control=at(str, "control"),
        split_name=at(str, "split", "name"),
        split_hash=at(str, "split", "hash"),
        data=at(dict, "data"),
        versions=at(dict, "versions"),
        users=one["user"] if offsets is None else one["user"].take(pa.array(offsets[:-1])),
        targets=one["target"],
        offsets=offsets,
        runs=runs,
        metrics=metrics,
    )


def _at(path: Path, value: Any, kind: type | UnionType, *keys: str | int) -> Any:
    """Follow keys and places of lists to a value of a kind."""
    for depth, key in enumerate(keys):
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            raise InputError(
                f"{path} has no {_dotted(keys[: depth + 1])}: expected the file as a comparison wrote it; "
                "run the comparison again"
            ) from None
    if not isinstance(value, kind):
        name = kind.__name__ if isinstance(kind, type) else kind
        raise InputError(f"{path} has {_dotted(keys)} = {value!r}: expected {name}; run the comparison again")
    return value


def _dotted(keys: tuple[str | int, ...]) -> str:
    return ".".join(map(str, keys))


def _check_columns(ranks: pa.Table, path: Path) -> None:
    missing = {"arm", "seed", "user", "target", "rank"} - set(ranks.column_names)
    if missing:
        raise InputError(
            f"{path} has no column {', '.join(sorted(missing))}: expected the file as a comparison wrote it; "
            "run the comparison again"
        )
    if not pa.types.is_integer(ranks["rank"].type):
        raise InputError(
            f"{path} has ranks of type {ranks['rank'].type}: expected integers; run the comparison again"
        )


def _offsets(ranks: pa.Table, path: Path) -> Int64Array | None:
    """Targets of each question, where there is a column that numbers questions."""
    if "question" not in ranks.column_names:
        return None
    if not pa.types.is_integer(ranks["question"].type) or ranks["question"].null_count:
        raise InputError(f"{path} has questions that are no integers: run the comparison again")
    steps = np.diff(ranks["question"].to_numpy(), prepend=-1)
    if not np.isin(steps, (0, 1)).all():
        raise InputError(f"{path} has questions out of order: expected 0, 1, ... each in one piece")
    return np.append(np.flatnonzero(steps), len(steps)).astype(np.int64)


def _curve(arm: dict[str, Any]) -> tuple[float, ...]:
    """Validation scores of an arm; results of earlier versions have none."""
    return tuple(float(score) for score in arm.get("validation", ()))


def _runs(arms: list[tuple[str, int | None, tuple[float, ...]]], ranks: pa.Table, folder: Path) -> list[Run]:
    count = len(ranks) // len(arms)
    names, seeds = ranks["arm"].to_pylist(), ranks["seed"].to_pylist()
    expected = [(arm, seed) for arm, seed, _ in arms for _ in range(count)]
    if list(zip(names, seeds, strict=True)) != expected:
        raise InputError(
            f"{RESULTS} and {RANKS} in {folder} list different runs: expected those of one comparison"
        )
    values = np.asarray(ranks["rank"].fill_null(0).to_numpy(), dtype=np.int64).reshape(len(arms), count)
    return [Run(arm, seed, row, curve) for (arm, seed, curve), row in zip(arms, values, strict=True)]
