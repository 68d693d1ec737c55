"""What each arm reaches: every study of docs/results.md, an arm a process, several at once.

    python benchmarks/quality.py run LOGS STUDY [--processes 2] [--work runs/quality]
    python benchmarks/quality.py table [STUDY ...]

`LOGS` is the folder that holds the logs as Parquet. An arm that is done is not trained again: take its folder
away to repeat it. A study's file in benchmarks/results/quality keeps the comparison as `rota compare` writes
it, the validation curve of every training, and what it was run with.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from rota.evaluation.loading import load_comparison
from rota.evaluation.results import Comparison

RESULTS = Path(__file__).parent / "results" / "quality"
WHO = ("--user", "user_id", "--item", "item_id", "--time", "timestamp")
NYC = ("fsq_nyc.parquet", *WHO, "--zone", "America/New_York")
FLIGHTS = ("flights", "--sample-users", "1000")


@dataclass(frozen=True)
class Study:
    """One comparison.

    Attributes:
        log: Log and how it is read, as `rota compare` takes them.
        arms: Arms with the options that are theirs alone.
        control: Arm that the others are compared with.
        options: Of every arm.
        seeds: Trainings of each.
    """

    log: tuple[str, ...]
    arms: Mapping[str, tuple[str, ...]]
    control: str
    options: tuple[str, ...] = ()
    seeds: int = 3
    about: str = field(default="")


def plain(*arms: str) -> dict[str, tuple[str, ...]]:
    """Arms that need no options."""
    return dict.fromkeys(arms, ())


STUDIES = {
    "fsq_nyc": Study(
        NYC,
        plain(
            "rope", "rope+clockrope", "none", "clockrope", "trope", "sasrec", "sasrec:calendar", "tisasrec",
            "hstu", "hstu:rope+clockrope",
        ),
        "rope",
        ("--repeat-head", "--loss", "full_softmax", "--epochs", "12"),
        about="with a repeat head, time access request",
    ),
    "fsq_nyc-no-repeat-head": Study(
        NYC,
        plain("rope", "rope+clockrope"),
        "rope",
        ("--loss", "full_softmax", "--epochs", "12"),
        about="without a repeat head, time access request",
    ),
    "flights": Study(
        FLIGHTS,
        plain("rope", "rope+clockrope", "none", "clockrope", "trope"),
        "rope",
        ("--loss", "full_softmax", "--epochs", "16", "--patience", "4"),
        about="no repeat head, time access request",
    ),
    "flights-history": Study(
        FLIGHTS,
        plain("rope", "rope+clockrope"),
        "rope",
        ("--loss", "full_softmax", "--epochs", "16", "--patience", "4", "--time-access", "history"),
        about="no repeat head, time access history",
    ),
    "mathoverflow": Study(
        ("mathoverflow.parquet", *WHO),
        plain("rope", "rope+clockrope", "none", "clockrope", "trope"),
        "rope",
        ("--epochs", "12", "--num-negatives", "2048"),
        about="no repeat head, time access request",
    ),
}  # fmt: skip


def folder_of(work: Path, name: str, arm: str) -> Path:
    """Where an arm's run lies."""
    return work / name / arm.replace(":", "-")


def train(logs: Path, work: Path, name: str, arm: str) -> None:
    """Train one arm with all its seeds in a process of its own, on one thread."""
    study, out = STUDIES[name], folder_of(work, name, arm)
    if (out / "results.json").exists():
        return
    log, *reading = study.log
    source = str(logs / log) if log.endswith(".parquet") else log
    command = [
        sys.executable, "-m", "rota", "compare", source, *reading, "--arms", arm, "--seeds", str(study.seeds),
        "--out", str(out), *study.options, *study.arms[arm],
    ]  # fmt: skip
    began = time.time()
    out.parent.mkdir(parents=True, exist_ok=True)
    with (out.parent / f"{out.name}.log").open("w") as told:
        done = subprocess.run(
            command, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=told, stderr=subprocess.STDOUT
        )
    minutes = (time.time() - began) / 60
    sys.stdout.write(f"{name} {arm}: {'done' if done.returncode == 0 else 'FAILED'}, {minutes:.1f} min\n")
    sys.stdout.flush()


def merged(work: Path, name: str) -> Comparison:
    """One comparison of all arms that are done."""
    study = STUDIES[name]
    found = [
        load_comparison(folder_of(work, name, arm))
        for arm in study.arms
        if (folder_of(work, name, arm) / "results.json").exists()
    ]
    first = found[0]
    for other in found:
        if (other.split_hash, other.time_access, other.seen) != (
            first.split_hash, first.time_access, first.seen
        ):  # fmt: skip
            raise SystemExit(f"{name}: arms were asked different questions")
    trained = [run for one in found for run in one.runs if run.seed is not None]
    untrained = [run for run in first.runs if run.seed is None]
    control = study.control if study.control in {run.arm for run in trained} else first.control
    return replace(first, runs=[*trained, *untrained], control=control)


def run(logs: Path, names: Sequence[str], processes: int, work: Path) -> None:
    """Train what is not done yet, and write what there is."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True
    ).stdout.strip()
    jobs = [(name, arm) for name in names for arm in STUDIES[name].arms]
    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(lambda job: partial(train, logs, work)(*job), jobs))
    for name in names:
        study = STUDIES[name]
        kept = {
            "study": name,
            "about": study.about,
            "commit": commit,
            "seeds": study.seeds,
            "command": " ".join(["rota compare", *study.log, *study.options]),
            "comparison": merged(work, name).to_json(),
        }
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("logs", type=Path)
    running.add_argument("studies", nargs="+", choices=list(STUDIES))
    running.add_argument("--processes", type=int, default=2)
    running.add_argument("--work", type=Path, default=Path("runs/quality"))
    given = parser.parse_args()
    run(given.logs, given.studies, given.processes, given.work)


if __name__ == "__main__":
    main()
