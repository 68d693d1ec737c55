"""SASRec and HSTU beside those of RecTools: `ml_100k`, leave-one-out, the same sizes, budget and length.

    python benchmarks/rectools_peer.py run LOGS [--seeds 3] [--processes 1] [--work runs/peers] [--arms ...]
    python benchmarks/rectools_peer.py table
    python benchmarks/rectools_peer.py write     # the table into docs/results.md

`LOGS` is the folder that holds ml_100k.parquet. RecTools is installed into an environment of its own under
`--work`, where each training leaves a file too: one that is done is not repeated, take its files away for
that. Every training is a process of its own on one thread. What is kept in benchmarks/results of trainings
that are not there stays, until the same are done again.

What is the same on both sides: the events in one order (RecTools' sorts are stable, and its sessions are
compared with ours), the candidates' rule (no item of the user's own history), full softmax over the catalogue
(cosines over 0.05 for HSTU), width, layers, heads, dropout, length, batch, learning rate, no weight decay, at
most so many epochs; after each one the MRR of validation, over all candidates and at the time of the event
asked for; the best epoch is kept, and a training ends when none has been better for `patience` epochs: with
8, RecTools' SASRec once ended on a plateau that another seed passed, so read its mean as a lower bound. HSTU
has biases by time and position on both sides, and is told the time of the request, RecTools' as `context`.

What is each library's own: initialisation, order of batches, Adam's betas (RecTools .9 and .98, rota .9 and
.999), where dropout stands, and what an epoch learns from. RecTools keeps the newest `length + 1` events of
a user for training, and has no candidate that is in none of them; rota learns from all events, in windows.
So rota has two arms: `newest` learns from exactly RecTools' targets, with as many steps; `all` is what rota
does. RecTools' own batch, 128, makes 8 steps an epoch of this log: it is an arm too.

Ranks: RecTools' are places in its own lists of all items, a target that it does not list is a miss; rota's
are ranks over all items, ties against the target. Metrics and intervals of both are `rota.evaluation`'s.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from pages import write_between
from peers.rota_models import question_of
from rectools_arms import ARMS
from rectools_page import METRICS, section, table
from rich.console import Console

from rota.evaluation import HR, MRR, NDCG, paired_difference
from rota.recipes.question import Question
from rota.recipes.timing import circumstances

HERE = Path(__file__).parent
RESULT = HERE / "results" / "quality" / "ml_100k-rectools.json"
RANKS = RESULT.with_suffix(".npz")  # of every user in each training
LOG = "ml_100k.parquet"
PINS = (
    "rectools[torch]==0.19.0", "torch==2.13.0", "pytorch-lightning==2.5.2", "numpy==1.26.4", "pandas==2.3.3",
)  # fmt: skip
Ranks = np.ndarray[Any, Any]  # of the target of each user, 0 where it was not listed
Training = tuple[str, int]  # arm and seed


def peer_python(folder: Path) -> Path:
    """An interpreter that has RecTools; made where there is none."""
    python, stamp = folder / "bin" / "python", folder / "pins.json"
    if not stamp.is_file() or json.loads(stamp.read_text()) != list(PINS):
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PINS], check=True)
        stamp.write_text(json.dumps(PINS))
    return python


def export(question: Question, path: Path) -> None:
    """Write the events, in our order, with the stage that each belongs to."""
    histories, stages = question.histories, question.stages
    stage = np.zeros(len(histories.items), dtype=np.int64)
    stage[stages.validation.stops], stage[stages.test.stops] = 1, 2
    users = np.repeat(np.arange(histories.num_users), np.diff(histories.offsets))
    np.savez(path, users=users, items=histories.items, times=histories.times, stage=stage)


def train(name: str, seed: int, log: Path, python: Path, work: Path) -> None:
    """One training, unless it is done; what it was told lies beside what it left."""
    arm, out = ARMS[name], place(work, name, seed)
    settings = json.dumps({"kind": arm.kind, "seed": seed, **arm.settings})
    asked = out.with_suffix(".settings.json")
    if out.with_suffix(".json").is_file():
        if asked.read_text(encoding="utf-8") != settings:
            raise SystemExit(f"{out}: trained with other settings; take it away to train it again")
        return
    asked.write_text(settings, encoding="utf-8")
    out.with_suffix(".commit").write_text(str(circumstances()["commit"]), encoding="utf-8")
    script = HERE / "peers" / f"{arm.library}_models.py"
    source = (sys.executable, script, log) if arm.library == "rota" else (python, script, work / "events.npz")
    command = [str(part) for part in (*source, asked, out)]
    with out.with_suffix(".log").open("w") as told:
        done = subprocess.run(
            command, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=told, stderr=subprocess.STDOUT
        )
    Console().print(f"{name}, seed {seed}: {'done' if done.returncode == 0 else f'FAILED, see {out}'}")


def place(work: Path, name: str, seed: int) -> Path:
    """What a training leaves."""
    return work / "trainings" / f"{name.replace(' ', '-')}-{seed}.npz"


def ranks_of(out: Path, question: Question) -> Ranks:
    """Rank of the target of each user, 0 where it was not listed."""
    left, test = np.load(out), question.stages.test
    if not np.array_equal(left["users"], test.users):
        raise SystemExit(f"{out}: it answers other users than are asked")
    if "ranks" in left:
        return np.asarray(left["ranks"])
    found = left["lists"] == question.histories.items[test.stops][:, None]
    return np.where(found.any(1), found.argmax(1) + 1, 0)


def trained(question: Question, work: Path) -> tuple[dict[Training, dict[str, Any]], dict[Training, Ranks]]:
    """What each training left here that is done: its facts and its ranks."""
    facts, ranks = {}, {}
    for path in sorted((work / "trainings").glob("*.settings.json")):
        out = path.with_name(path.name.removesuffix(".settings.json") + ".npz")
        if not out.with_suffix(".json").is_file():
            continue
        seed = int(out.stem.rpartition("-")[2])
        name = next(arm for arm in ARMS if out == place(work, arm, seed))
        found = ranks_of(out, question)
        told = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
        if told.pop("ranks", found.tolist()) != found.tolist():
            raise SystemExit(f"{out}: RecTools' lists and its scores disagree")
        figures = {metric.name: float(metric(found).mean()) for metric in METRICS}
        missed = int((found == 0).sum())
        settings = json.loads(path.read_text(encoding="utf-8"))
        commit = out.with_suffix(".commit").read_text(encoding="utf-8").strip()
        told |= {"commit": commit, "settings": settings}
        facts[name, seed] = {"arm": name, "seed": seed, "metrics": figures, "not_listed": missed, **told}
        ranks[name, seed] = found
    return facts, ranks


def gather(question: Question, seeds: int, work: Path) -> dict[str, Any]:
    """Figures of all that is done or kept, and their ranks into a file beside."""
    facts, ranks = trained(question, work)
    fresh = frozenset(facts)
    kept = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.is_file() else {"runs": [], "paired": []}
    if kept["runs"] and kept["split"]["hash"] != question.stages.hash:
        raise SystemExit(f"{RESULT} is of another question: take it away")
    facts = {(run["arm"], run["seed"]): run for run in kept["runs"]} | facts
    if RANKS.is_file():
        with np.load(RANKS) as before:
            ranks = {key: before[label(key)] for key in facts if label(key) in before} | ranks
    seeds = max([seeds, *(seed + 1 for _, seed in facts)])  # what is kept stays
    keys = [(name, seed) for name in ARMS for seed in range(seeds)]
    done = {name: [key for key in keys if key[0] == name and key in facts] for name in ARMS}
    paired = []
    for name, other in pairs([name for name in ARMS if done[name]]):
        earlier = kept["paired"] if fresh.isdisjoint(done[name] + done[other]) else []
        paired += differences(name, other, [done[name], done[other]], ranks, earlier)
    np.savez_compressed(RANKS, **{label(key): found.astype(np.int16) for key, found in ranks.items()})
    return {
        "about": "SASRec and HSTU beside RecTools', ml_100k, leave-one-out, seen items dropped",
        "command": "python benchmarks/rectools_peer.py run LOGS",
        "split": {"name": question.stages.name, "hash": question.stages.hash},
        "data": question.facts(),
        "peer": list(PINS),
        "circumstances": circumstances("numpy"),
        "not_run": [f"{name}, seed {seed}" for name, seed in keys if (name, seed) not in facts],
        "runs": [facts[key] for key in keys if key in facts],
        "paired": paired,
    }


def differences(
    name: str,
    other: str,
    done: Sequence[Sequence[Training]],
    ranks: Mapping[Training, Ranks],
    kept: Sequence[dict[str, Any]],
) -> list[dict[str, Any]]:
    """Of each metric, by user; where ranks are no longer there, what was kept of the same trainings."""
    if not all(key in ranks for keys in done for key in keys):
        return [pair for pair in kept if (pair["arm"], pair["control"]) == (name, other)]
    found = [[ranks[key] for key in keys] for keys in done]
    return [
        {"arm": name, "control": other, "metric": metric.name, **difference(*found, metric)}
        for metric in METRICS
    ]


def label(training: Training) -> str:
    """Name of a training's ranks in their file."""
    return f"{training[0]}, seed {training[1]}"


def pairs(done: Sequence[str]) -> list[tuple[str, str]]:
    """Arms and what each is compared with: RecTools' with our batch, and with its own."""
    controls = [(name, arm.against) for name, arm in ARMS.items() if arm.against is not None]
    controls += [(name, f"{other} batch 128") for name, other in controls]
    return [(name, other) for name, other in controls if name in done and other in done]


def difference(mine: Sequence[Ranks], control: Sequence[Ranks], metric: HR | NDCG | MRR) -> dict[str, float]:
    """Mean difference by user and its interval."""
    values = (np.stack([metric(found) for found in each]) for each in (mine, control))
    return paired_difference(*values)._asdict()


def run(logs: Path, names: Sequence[str], seeds: int, processes: int, work: Path) -> None:
    """Train what is not done yet, and write what there is."""
    log, question = logs / LOG, question_of(logs / LOG)
    (work / "trainings").mkdir(parents=True, exist_ok=True)
    python = peer_python(work / "rectools")
    export(question, work / "events.npz")
    jobs = [(name, seed) for seed in range(seeds) for name in names]
    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(lambda job: train(job[0], job[1], log, python, work), jobs))
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(gather(question, seeds, work), indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="train what is not done, write the results, show the table")
    running.add_argument("logs", type=Path)
    running.add_argument("--arms", nargs="*", choices=list(ARMS), default=list(ARMS), metavar="ARM")
    running.add_argument("--seeds", type=int, default=3)
    running.add_argument("--processes", type=int, default=1)
    running.add_argument("--work", type=Path, default=Path("runs/peers"))
    commands.add_parser("table", help="show the table of the results that are kept")
    commands.add_parser("write", help="write that table into docs/results.md")
    given = parser.parse_args()
    if given.command == "run":
        run(given.logs, given.arms, given.seeds, given.processes, given.work.resolve())
    kept = json.loads(RESULT.read_text(encoding="utf-8"))
    if given.command == "write":
        write_between("results.md", RESULT.stem, section(kept))
    Console().print(table(kept))


if __name__ == "__main__":
    main()
