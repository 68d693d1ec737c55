"""Training, in distinct targets a second, beside RecTools and a plain port of HSTU: `fsq_nyc`, two layers.

    python benchmarks/training.py run LOGS [--rounds 2] [--epochs 2] [--threads 2] [--work runs/peers]
    python benchmarks/training.py table

`LOGS` is the folder that holds fsq_nyc.parquet. RecTools is installed into an environment of its own under
`--work`. Each measurement is a process of its own, which trains one epoch to warm up and then as many as are
asked for; sides of a pair take turns, and the second round goes in the other order. Width 64, two heads,
length 100, batch 64, on both sides; the same loss, and the same number of negatives. Validation is not in the
times.

What is not the same: RecTools keeps the newest 101 events of a user, rota learns from all, in windows; a
target is counted once on both sides. RecTools pads each row to the full length. rota's own default loss,
whose negatives are shared in a batch, is another loss and has its own row.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rectools_peer import PINS, peer_python
from rich.console import Console
from rich.table import Table

from rota.recipes.opening import open_log, stated
from rota.recipes.question import ask_of
from rota.recipes.timing import circumstances

HERE = Path(__file__).parent
RESULT = HERE / "results" / "training.json"
LOG = "fsq_nyc.parquet"
COLUMNS = {"user": "user_id", "item": "item_id", "time": "timestamp"}
DIM, LAYERS, HEADS, LENGTH, DROPOUT, BATCH, NEGATIVES = 64, 2, 2, 100, 0.2, 64, 128


@dataclass(frozen=True)
class Side:
    """One way to train.

    Attributes:
        script: Of benchmarks/peers.
        settings: What it is told, but for epochs and threads.
    """

    script: str
    settings: Mapping[str, Any]


def ours(model: str, loss: str) -> Side:
    """Rota by `fit`."""
    arguments = {
        "embedding_dim": DIM, "num_layers": LAYERS, "num_heads": HEADS, "max_len": LENGTH, "dropout": DROPOUT,
    }  # fmt: skip
    access = "request" if model == "hstu" else "none"
    told = {"model": model, "arguments": arguments, "loss": loss, "batch": BATCH, "time_access": access}
    return Side("rota_epochs.py", told)


def theirs(model: str, loss: str, negatives: int) -> Side:
    """RecTools by its own `fit`."""
    arguments: dict[str, Any] = {
        "n_factors": DIM, "n_blocks": LAYERS, "n_heads": HEADS, "session_max_len": LENGTH,
        "dropout_rate": DROPOUT, "batch_size": BATCH, "loss": loss, "n_negatives": negatives,
    }  # fmt: skip
    if model == "hstu":
        arguments["lightning_module_kwargs"] = {"logits_t": 0.05}
    return Side("rectools_epochs.py", {"model": model, "arguments": arguments})


def hstu(which: str, *, compiled: bool) -> Side:
    """HSTU in a plain loop: rota's, or the plain port."""
    told = {
        "which": which, "compiled": compiled, "dim": DIM, "layers": LAYERS, "heads": HEADS,
        "max_len": LENGTH, "dropout": DROPOUT, "batch": BATCH, "negatives": NEGATIVES,
    }  # fmt: skip
    return Side("hstu_epochs.py", told)


UNIFORM = f"sampled_softmax(num_negatives={NEGATIVES}, negatives=uniform())"
PAIRS = {
    f"SASRec, sampled softmax, {NEGATIVES} uniform negatives a position": {
        "rota": ours("sasrec", UNIFORM), "RecTools": theirs("sasrec", "sampled_softmax", NEGATIVES),
    },
    "SASRec, full softmax": {
        "rota": ours("sasrec", "full_softmax"), "RecTools": theirs("sasrec", "softmax", 1),
    },
    "SASRec, BCE, one negative": {
        "rota": ours("sasrec", "bce(num_negatives=1)"), "RecTools": theirs("sasrec", "BCE", 1),
    },
    "SASRec, sampled softmax, 512 negatives shared in a batch": {
        "rota": ours("sasrec", "sampled_softmax"),
    },
    f"HSTU, sampled softmax, {NEGATIVES} uniform negatives a position": {
        "rota": ours("hstu", UNIFORM), "RecTools": theirs("hstu", "sampled_softmax", NEGATIVES),
    },
    "HSTU, the same in a plain loop": {
        "rota": hstu("rota", compiled=False), "plain port": hstu("plain", compiled=False),
    },
    "HSTU, the same in a plain loop, compiled": {
        "rota": hstu("rota", compiled=True), "plain port": hstu("plain", compiled=True),
    },
}  # fmt: skip


def measured(side: Side, log: Path, python: Path, work: Path, threads: int, epochs: int) -> dict[str, Any]:
    """Targets of an epoch and seconds of each, by a process of its own."""
    script = HERE / "peers" / side.script
    peer = side.script.startswith("rectools")
    source, interpreter = (work / "train.npz", python) if peer else (log, Path(sys.executable))
    settings = json.dumps({**side.settings, "threads": threads, "epochs": epochs})
    done = subprocess.run(
        [interpreter, script, source, settings],
        env=os.environ | {"OMP_NUM_THREADS": str(threads)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{script.name} {settings}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def export(log: Path, path: Path) -> None:
    """Events of the training, as RecTools is given them."""
    question = ask_of(open_log(str(log), stated(**COLUMNS)).log)
    histories, train = question.histories, question.stages.train
    rows = np.concatenate([np.arange(*span) for span in zip(train.starts, train.stops, strict=True)])
    users = np.repeat(np.arange(histories.num_users), np.diff(histories.offsets))
    np.savez(path, users=users[rows], items=histories.items[rows], times=histories.times[rows])


def run(logs: Path, work: Path, rounds: int, epochs: int, threads: int, names: Sequence[str]) -> None:
    """Measure what is named, write what there is after each pair."""
    work.mkdir(parents=True, exist_ok=True)
    python = peer_python(work / "rectools")
    export(logs / LOG, work / "train.npz")
    kept = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.is_file() else {"pairs": {}}
    for name in names:
        found: dict[str, list[dict[str, Any]]] = {side: [] for side in PAIRS[name]}
        for turn in range(rounds):
            for side in list(PAIRS[name])[:: 1 if turn % 2 == 0 else -1]:
                told = measured(PAIRS[name][side], logs / LOG, python, work, threads, epochs)
                found[side].append(told)
                Console().print(f"{name}, {side}: {speed(found[side]):,.0f} targets/s", highlight=False)
        settings = {side: dict(PAIRS[name][side].settings) for side in PAIRS[name]}
        kept["pairs"][name] = {
            "threads": threads, "settings": settings, "measured": found,
            "circumstances": circumstances("numpy", "lightning"), "peer": list(PINS),
        }  # fmt: skip
        RESULT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def speed(found: Sequence[Mapping[str, Any]]) -> float:
    """Targets a second: median over the epochs of all rounds."""
    return statistics.median(one["targets"] / seconds for one in found for seconds in one["seconds"])


def table(kept: Mapping[str, Any]) -> Table:
    """A row for each pair."""
    shown = Table(title="distinct training targets a second, fsq_nyc", header_style="bold")
    for column in ("what", "threads", "rota", "peer", "ratio", "lowest of the epochs"):
        shown.add_column(column, justify="left" if column == "what" else "right")
    for name, pair in kept["pairs"].items():
        mine, *others = pair["measured"].items()
        peer = f"{others[0][0]} {speed(others[0][1]):,.0f}" if others else ""
        ratio = f"{speed(mine[1]) / speed(others[0][1]):.1f}" if others else ""
        slowest = min(one["targets"] / seconds for one in mine[1] for seconds in one["seconds"])
        shown.add_row(name, str(pair["threads"]), f"{speed(mine[1]):,.0f}", peer, ratio, f"{slowest:,.0f}")
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="measure, write the results, show the table")
    running.add_argument("logs", type=Path)
    running.add_argument("--pairs", nargs="*", choices=list(PAIRS), default=list(PAIRS), metavar="PAIR")
    running.add_argument("--rounds", type=int, default=2)
    running.add_argument("--epochs", type=int, default=2)
    running.add_argument("--threads", type=int, default=2)
    running.add_argument("--work", type=Path, default=Path("runs/peers"))
    commands.add_parser("table", help="show the results that are kept")
    given = parser.parse_args()
    if given.command == "run":
        run(given.logs, given.work.resolve(), given.rounds, given.epochs, given.threads, given.pairs)
    Console().print(table(json.loads(RESULT.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
