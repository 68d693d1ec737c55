"""Preparing a log beside the pandas route: time and memory against rows, 5-core, leave-one-out; then batches.

    python benchmarks/data.py [--rows 1e6 5e6 20e6] [--json data.json] [--png data.png] [--peer PYTHON]

The log is made up in the shape of MovieLens 20M: at least 20 events a person, popularity by Zipf's law, rows
by person, times over twenty years. Each run is a process of its own, so that its peak memory is its own; both
read the same Parquet file from a warm disk cache, and take turns in who goes first. The peer is what a user
of RecTools 0.19 does: `pandas.read_parquet`, the same 5-core, a stable sort by user and time, the last event
of each user split off, `Dataset.construct`. It runs in the interpreter given with --peer, or in an
environment made for it.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from rich.console import Console
from rich.table import Table

from rota.recipes.timing import circumstances

PEER = ("rectools==0.19.0", "pyarrow<20")
OURS = r"""
import re, sys, time, json
from pathlib import Path
from rota.data import KCore, LeaveLast, Reading, load_dataset, prepare
start = time.perf_counter()
columns = Reading("userId", "movieId", "timestamp")
prepare(sys.argv[1], Path(sys.argv[2]) / "dataset", columns, filters=[KCore(5, 5)])
prepared = time.perf_counter()
log = load_dataset(Path(sys.argv[2]) / "dataset")
loaded = time.perf_counter()
stages = LeaveLast().stages(log)
end = time.perf_counter()
print(json.dumps({
    "seconds": end - start, "prepare": prepared - start, "load": loaded - prepared, "split": end - loaded,
    "events": len(log), "users": log.num_users, "items": log.num_items,
    "peak": int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) * 1024,
}))
"""
THEIRS = r"""
import re, sys, time, json
import pandas as pd
from rectools import Columns
from rectools.dataset import Dataset
start = time.perf_counter()
rows = pd.read_parquet(sys.argv[1], columns=["userId", "movieId", "timestamp"])
rows.columns = [Columns.User, Columns.Item, Columns.Datetime]
while True:
    before = len(rows)
    rows = rows[rows.groupby(Columns.User)[Columns.User].transform("size") >= 5]
    rows = rows[rows.groupby(Columns.Item)[Columns.Item].transform("size") >= 5]
    if len(rows) == before:
        break
rows[Columns.Datetime] = pd.to_datetime(rows[Columns.Datetime], unit="s")
rows[Columns.Weight] = 1
rows = rows.sort_values([Columns.User, Columns.Datetime], kind="stable")
last = rows.groupby(Columns.User).tail(1)
train = rows.drop(last.index)
dataset = Dataset.construct(train)
end = time.perf_counter()
print(json.dumps({
    "seconds": end - start, "events": len(rows), "users": int(rows[Columns.User].nunique()),
    "items": int(rows[Columns.Item].nunique()),
    "peak": int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) * 1024,
}))
"""


def make_log(path: Path, rows: int) -> None:
    """Write a log in the shape of MovieLens 20M."""
    rng = np.random.default_rng(0)
    users, items = max(int(138_493 * rows / 20e6), 100), 26_744
    wanted = np.maximum(20, rng.lognormal(4.2, 1.0, users))
    counts = np.maximum(20, wanted * rows / wanted.sum()).astype(np.int64)
    user = np.repeat(np.arange(1, users + 1), counts)[:rows]
    popularity = np.cumsum(1 / np.arange(1, items + 1) ** 0.9)
    item = rng.permutation(items)[np.searchsorted(popularity / popularity[-1], rng.random(len(user)))] + 1
    start = rng.integers(820_000_000, 1_420_000_000, users + 1)
    when = start[user] + rng.integers(0, 30 * 86_400, len(user))
    order = np.lexsort((item, user))  # as MovieLens has it: by person, then film
    table = pa.table({"userId": user, "movieId": item[order], "timestamp": when[order]})
    parquet.write_table(table.append_column("rating", pa.array(rng.integers(1, 11, len(user)) / 2)), path)


def measure(python: str, code: str, log: Path) -> dict[str, Any]:
    """Figures of one run, in a process of its own."""
    with tempfile.TemporaryDirectory(dir=log.parent) as folder:
        done = subprocess.run([python, "-c", code, log, folder], capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def peer_python(given: str | None, folder: Path) -> str:
    """An interpreter that has the peer."""
    if given is not None:
        return given
    venv.create(folder / "peer", with_pip=True)
    python = folder / "peer" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER], check=True)
    return str(python)


def batches_per_second(events: int = 2_000_000, seconds: float = 3.0) -> dict[str, float]:
    """Events a second that one core turns into training batches of 128 windows of 200."""
    from rota.histories import Histories, Spans
    from rota.training.order import EpochOrder
    from rota.training.windows import TrainingWindows

    rng = np.random.default_rng(0)
    lengths = np.maximum(5, rng.lognormal(4.2, 1.0, events // 100).astype(np.int64))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    items, times = rng.integers(0, 10_000, offsets[-1]), np.sort(rng.integers(0, 10**9, offsets[-1]))
    histories = Histories(items, times, offsets, 10_000)
    users = np.arange(len(lengths))
    spans = Spans(users, offsets[:-1], offsets[1:], offsets[1:])
    windows = TrainingWindows(histories, spans, 200, "request")
    start, read = time.perf_counter(), 0
    for batch in EpochOrder(windows.lengths, 128, 0):
        read += int(windows.collate(batch).batch.lengths.sum())
        if time.perf_counter() - start > seconds:
            break
    return {"events_per_second": read / (time.perf_counter() - start)}


def draw(results: dict[str, Any], path: Path) -> None:
    """Time and memory against rows."""
    import matplotlib.pyplot as plt

    from rota.plots import house_style, save_figure

    with house_style():
        figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
        for axis, key, scale, label in zip(
            axes, ("seconds", "peak"), (1, 1e9), ("seconds", "peak memory, GB"), strict=True
        ):
            for name in ("rota", "RecTools, pandas"):
                points = [
                    (int(rows) / 1e6, statistics.median(run[key] for run in arms[name]) / scale)
                    for rows, arms in results["runs"].items()
                    if all(key in run for run in arms[name])
                ]
                axis.plot(*zip(*points, strict=True), "o-", label=name)
            axis.set(xlabel="million rows", ylabel=label, ylim=(0, None))
        axes[0].legend()
        save_figure(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 5e6, 20e6])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--png", type=Path)
    parser.add_argument("--peer")
    given = parser.parse_args()
    results: dict[str, Any] = {"circumstances": circumstances(), "peer": list(PEER), "runs": {}}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        arms = {"rota": (sys.executable, OURS), "RecTools, pandas": (peer_python(given.peer, folder), THEIRS)}
        for rows in map(int, given.rows):
            log = folder / f"{rows}.parquet"
            make_log(log, rows)
            found: dict[str, list[dict[str, Any]]] = {name: [] for name in arms}
            for turn in range(given.rounds):
                for name in list(arms)[:: 1 if turn % 2 == 0 else -1]:
                    found[name].append(measure(*arms[name], log))
            results["runs"][str(rows)] = found
            log.unlink()
    results["batches"] = batches_per_second()
    report(results)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n")
    if given.png:
        draw(results, given.png)


def report(results: dict[str, Any]) -> None:
    table = Table(title="5-core, leave-one-out; medians")
    for name in ("rows", "arm", "seconds", "peak GB", "events left", "ratio"):
        table.add_column(name, justify="left" if name == "arm" else "right")
    for rows, arms in results["runs"].items():
        base = statistics.median(run["seconds"] for run in arms["rota"])
        for name, runs in arms.items():
            done = [run for run in runs if "seconds" in run]
            if not done:
                table.add_row(f"{int(rows):,}", name, runs[0]["failed"], "", "", "")
                continue
            middle = statistics.median(run["seconds"] for run in done)
            peak = max(run["peak"] for run in done) / 1e9
            table.add_row(
                f"{int(rows):,}", name, f"{middle:.1f}", f"{peak:.2f}", f"{done[0]['events']:,}",
                f"{middle / base:.1f}",
            )  # fmt: skip
    console = Console()
    console.print(table)
    console.print(f"batches: {results['batches']['events_per_second'] / 1e6:.1f} million events a second")


if __name__ == "__main__":
    main()
