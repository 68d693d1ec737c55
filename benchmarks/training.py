"""Training, in distinct targets a second, beside RecTools, RecBole and a plain port of HSTU, on `fsq_nyc`.

    python benchmarks/training.py run LOGS [--rounds 2] [--epochs 2] [--threads 2] [--work runs/peers]
    python benchmarks/training.py write     # the table into docs/performance.md
    python benchmarks/training.py table

`LOGS` is the folder that holds fsq_nyc.parquet. RecTools and RecBole are installed each into an environment
of its own under `--work`. Each measurement is a process of its own, which trains one epoch to warm up and
then as many as are asked for; sides of a pair take turns, and the second round goes in the other order. Two
layers, width 64, two heads, length 100, batch 64, on all sides; the same loss, and the same number of
negatives. Validation is not in the times.

What is not the same: RecTools keeps the newest 101 events of a user, rota learns from all, in windows; a
target is counted once on both sides. RecTools pads each row to the full length. RecBole has a row for each
target, with all that came before it, and a batch is 2,048 of these, as it comes; some steps stand for an
epoch. rota's own default loss, whose negatives are shared in a batch, is another loss and has its own row.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pages import write_between
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
RECBOLE = (
    "recbole==1.2.1",
    "torch==2.13.0",
    "numpy==1.26.4",
    "pandas==2.1.4",
    "scipy==1.12.0",
    "setuptools<81",
)


@dataclass(frozen=True)
class Side:
    """One way to train.

    Attributes:
        script: Of benchmarks/peers.
        settings: What it is told, but for epochs and threads.
    """

    script: str
    settings: Mapping[str, Any]


def ours(model: str, loss: str, num_negatives: int | None = None, negatives: str | None = None) -> Side:
    """Rota by `fit`; negatives that are not given are the loss's own."""
    arguments = {
        "embedding_dim": DIM, "num_layers": LAYERS, "num_heads": HEADS, "max_len": LENGTH, "dropout": DROPOUT,
    }  # fmt: skip
    access = "request" if model == "hstu" else "none"
    how = {"loss": loss, "num_negatives": num_negatives, "negatives": negatives, "batch": BATCH}
    return Side("rota_epochs.py", {"model": model, "arguments": arguments, "time_access": access} | how)


def theirs(model: str, loss: str, negatives: int) -> Side:
    """RecTools by its own `fit`."""
    arguments: dict[str, Any] = {
        "n_factors": DIM, "n_blocks": LAYERS, "n_heads": HEADS, "session_max_len": LENGTH,
        "dropout_rate": DROPOUT, "batch_size": BATCH, "loss": loss, "n_negatives": negatives,
    }  # fmt: skip
    if model == "hstu":
        arguments["lightning_module_kwargs"] = {"logits_t": 0.05}
    return Side("rectools_epochs.py", {"model": model, "arguments": arguments})


def recbole(batch: int, steps: int) -> Side:
    """RecBole's SASRec by the loop of its own trainer."""
    arguments = {
        "hidden_size": DIM, "inner_size": DIM, "n_layers": LAYERS, "n_heads": HEADS,
        "MAX_ITEM_LIST_LENGTH": LENGTH, "hidden_dropout_prob": DROPOUT, "attn_dropout_prob": DROPOUT,
        "loss_type": "CE", "train_batch_size": batch,
    }  # fmt: skip
    return Side("recbole_epochs.py", {"arguments": arguments, "steps": steps})


def hstu(which: str, *, compiled: bool) -> Side:
    """HSTU in a plain loop: rota's, or the plain port."""
    told = {
        "which": which, "compiled": compiled, "dim": DIM, "layers": LAYERS, "heads": HEADS,
        "max_len": LENGTH, "dropout": DROPOUT, "batch": BATCH, "negatives": NEGATIVES,
    }  # fmt: skip
    return Side("hstu_epochs.py", told)


UNIFORM = ("sampled_softmax", NEGATIVES, "uniform")
PAIRS = {
    f"SASRec, sampled softmax, {NEGATIVES} uniform negatives a position": {
        "rota": ours("sasrec", *UNIFORM), "RecTools": theirs("sasrec", "sampled_softmax", NEGATIVES),
    },
    "SASRec, full softmax": {
        "rota": ours("sasrec", "full_softmax"), "RecTools": theirs("sasrec", "softmax", 1),
        "RecBole": recbole(batch=2048, steps=3),
    },
    "SASRec, BCE, one negative": {
        "rota": ours("sasrec", "bce", 1), "RecTools": theirs("sasrec", "BCE", 1),
    },
    "SASRec, sampled softmax, 512 negatives shared in a batch": {
        "rota": ours("sasrec", "sampled_softmax"),
    },
    f"HSTU, sampled softmax, {NEGATIVES} uniform negatives a position": {
        "rota": ours("hstu", *UNIFORM), "RecTools": theirs("hstu", "sampled_softmax", NEGATIVES),
    },
    "HSTU, the same in a plain loop": {
        "rota": hstu("rota", compiled=False), "plain port": hstu("plain", compiled=False),
    },
    "HSTU, the same in a plain loop, compiled": {
        "rota": hstu("rota", compiled=True), "plain port": hstu("plain", compiled=True),
    },
}  # fmt: skip


def measured(side: Side, log: Path, work: Path, threads: int, epochs: int) -> dict[str, Any]:
    """Targets of an epoch and seconds of each, by a process of its own."""
    script = HERE / "peers" / side.script
    source, interpreter = work / "train.npz", Path(sys.executable)
    if side.script.startswith("rectools"):
        interpreter = peer_python(work / "rectools")
    elif side.script.startswith("recbole"):
        interpreter = recbole_python(work / "recbole")
    else:
        source = log
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


def recbole_python(folder: Path) -> Path:
    """An interpreter that has RecBole; made where there is none."""
    python, stamp = folder / "bin" / "python", folder / "pins.json"
    if not stamp.is_file() or json.loads(stamp.read_text(encoding="utf-8")) != list(RECBOLE):
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *RECBOLE], check=True)
        stamp.write_text(json.dumps(RECBOLE), encoding="utf-8")
    return python


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
    export(logs / LOG, work / "train.npz")
    kept = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.is_file() else {"pairs": {}}
    for name in names:
        found: dict[str, list[dict[str, Any]]] = {side: [] for side in PAIRS[name]}
        for turn in range(rounds):
            for side in list(PAIRS[name])[:: 1 if turn % 2 == 0 else -1]:
                told = measured(PAIRS[name][side], logs / LOG, work, threads, epochs)
                found[side].append(told)
                Console().print(f"{name}, {side}: {speed(found[side]):,.0f} targets/s", highlight=False)
        settings = {side: dict(PAIRS[name][side].settings) for side in PAIRS[name]}
        kept["pairs"][name] = {
            "threads": threads, "settings": settings, "measured": found,
            "circumstances": circumstances("numpy", "lightning"), "peer": [*PINS, *RECBOLE],
        }  # fmt: skip
        RESULT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def speed(found: Sequence[Mapping[str, Any]]) -> float:
    """Targets a second: median over the epochs of all rounds."""
    return statistics.median(one["targets"] / seconds for one in found for seconds in one["seconds"])


def rows(kept: Mapping[str, Any]) -> list[list[str]]:
    """A row for each peer of a pair, or for rota alone; the lowest is of rota's epochs."""
    found = []
    for name, pair in kept["pairs"].items():
        (_, mine), *others = pair["measured"].items()
        own, slowest = (
            speed(mine),
            min(one["targets"] / seconds for one in mine for seconds in one["seconds"]),
        )
        for peer, theirs in others or [("", [])]:
            told = [f"{speed(theirs):,.0f}", f"{own / speed(theirs):.1f}"] if theirs else ["", ""]
            found.append([name, str(pair["threads"]), f"{own:,.0f}", f"{slowest:,.0f}", peer, *told])
    return found


HEADS_OF_TABLE = ("what", "threads", "rota", "its slowest epoch", "peer", "the peer", "ratio")


def table(kept: Mapping[str, Any]) -> Table:
    """The rows, for a terminal."""
    shown = Table(title="distinct training targets a second, fsq_nyc", header_style="bold")
    for column in HEADS_OF_TABLE:
        shown.add_column(column, justify="left" if column in ("what", "peer") else "right")
    for row in rows(kept):
        shown.add_row(*row)
    return shown


def section(kept: Mapping[str, Any]) -> str:
    """The rows, for the page."""
    circumstances = [pair["circumstances"] for pair in kept["pairs"].values()]
    commits = ", ".join(dict.fromkeys(f"`{one['commit']}`" for one in circumstances))
    processors = ", ".join(dict.fromkeys(one["processor"] for one in circumstances))
    lines = [
        f"Distinct training targets a second, medians over epochs of all rounds; {processors}; {commits}.",
        "",
        f"| {' | '.join(HEADS_OF_TABLE)} |",
        "|---|--:|--:|--:|---|--:|--:|",
        *(f"| {' | '.join(row)} |" for row in rows(kept)),
    ]
    return "\n".join(lines)


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
    commands.add_parser("write", help="write the table of the results that are kept into docs/performance.md")
    commands.add_parser("table", help="show it")
    given = parser.parse_args()
    if given.command == "run":
        run(given.logs, given.work.resolve(), given.rounds, given.epochs, given.threads, given.pairs)
    kept = json.loads(RESULT.read_text(encoding="utf-8"))
    if given.command == "write":
        write_between("performance.md", "training", section(kept))
    Console().print(table(kept))


if __name__ == "__main__":
    main()
