"""A comparison back from its folder."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rota.errors import InputError
from rota.evaluation.folder import read_run
from rota.evaluation.results import SCHEMA, Comparison
from rota.evaluation.run import Run


def load_comparison(folder: Path | str) -> Comparison:
    """Read what `Comparison.save` wrote; the metrics are computed from the ranks again.

    Raises:
        InputError: A file is missing, cannot be read, is of another schema, or does not fit the other.
    """
    results: Any
    results, ranks = read_run(Path(folder))
    found = results.get("schema") if isinstance(results, dict) else None
    if found != SCHEMA:
        raise InputError(
            f"results in {folder} have schema {found}: expected {SCHEMA}; read them with their own rota"
        )
    arms = results["arms"]
    runs = _runs(arms, ranks, Path(folder))
    users = len(runs[0].ranks)
    return Comparison(
        time_access=results["time_access"],
        seen=results["seen"],
        control=results["control"],
        split_name=results["split"]["name"],
        split_hash=results["split"]["hash"],
        data=results["data"],
        versions=results["versions"],
        users=ranks["user"][:users],
        targets=ranks["target"][:users],
        runs=runs,
        metrics=tuple(arms[0]["metrics"]),
    )


def _runs(arms: list[dict[str, Any]], ranks: pa.Table, folder: Path) -> list[Run]:
    count = len(ranks) // len(arms)
    names, seeds = ranks["arm"].to_pylist(), ranks["seed"].to_pylist()
    expected = [(arm["arm"], arm["seed"]) for arm in arms for _ in range(count)]
    if list(zip(names, seeds, strict=True)) != expected:
        raise InputError(
            f"results.json and ranks.parquet in {folder} list different runs: expected those of one run"
        )
    values = np.asarray(ranks["rank"].fill_null(0).to_numpy(), dtype=np.int64).reshape(len(arms), count)
    return [Run(arm["arm"], arm["seed"], row) for arm, row in zip(arms, values, strict=True)]
