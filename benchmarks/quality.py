"""What each arm reaches: every study of docs/results.md, an arm a process, several at once.

    python benchmarks/quality.py run LOGS STUDY [--processes 2] [--work runs/quality]
    python benchmarks/quality.py write     # tables and learning curves into docs/results.md

`LOGS` is the folder that holds the logs as Parquet. An arm that is done is not trained again: take its folder
away to repeat it. A study's folder in benchmarks/results/quality keeps the comparison as `rota compare`
writes it, with the validation curve of every training and the ranks of every user; study.json has the commit
of each arm and how it differs from each control. Arms that are trained later join what is kept there.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from quality_page import RANKS, RESULTS, STUDY, known, write_page
from studies import STUDIES

from rota.encodings.clockrope import ClockRoPE
from rota.evaluation.loading import load_comparison
from rota.evaluation.results import Comparison
from rota.kernels.measured import Measured
from rota.models.blueprint import Blueprint
from rota.recipes.priors import clocks_of
from rota.toml import read_recipe

AGAINST = ("rope+clockrope", "frequency", "routine")  # beside the control: what an arm may be asked to beat


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
        "--out", str(out), "--processes", "1", *study.options, *study.arms[arm],
    ]  # fmt: skip
    began = time.time()
    out.parent.mkdir(parents=True, exist_ok=True)
    commit_of(out).write_text(commit() + "\n", encoding="utf-8")
    with (out.parent / f"{out.name}.log").open("w") as told:
        left = subprocess.run(
            command, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=told, stderr=subprocess.STDOUT
        )
    minutes = (time.time() - began) / 60
    sys.stdout.write(f"{name} {arm}: {'done' if left.returncode == 0 else 'FAILED'}, {minutes:.1f} min\n")
    sys.stdout.flush()


def commit() -> str:
    """Commit of this checkout, marked where the code differs from it; results do while arms are trained."""
    here = ["git", "-C", str(Path(__file__).parent)]
    asked = [
        [*here, "describe", "--always", "--exclude=*"],
        [*here, "status", "--porcelain", "--untracked-files=no", "--", ":/src", ":/benchmarks/*.py"],
    ]
    found, changed = (subprocess.run(each, capture_output=True, text=True, check=True) for each in asked)
    return found.stdout.strip() + ("-dirty" if changed.stdout else "")


def commit_of(out: Path) -> Path:
    """Where it is written with which commit an arm was trained."""
    return out.parent / f"{out.name}.commit"


def done(work: Path, name: str) -> dict[str, Path]:
    """Folder of each arm that is done."""
    folders = {arm: folder_of(work, name, arm) for arm in STUDIES[name].arms}
    return {arm: folder for arm, folder in folders.items() if (folder / "results.json").exists()}


def merged(folders: Sequence[Path], control: str, arms: Sequence[str]) -> Comparison:
    """One comparison of arms that were trained apart, all asked the same; of an arm the first's runs."""
    found = [load_comparison(folder) for folder in folders]
    first = found[0]
    for folder, other in zip(folders, found, strict=True):
        asked = [(one.split_hash, one.time_access, one.seen) for one in (first, other)]
        if asked[0] != asked[1]:
            raise SystemExit(f"{folder}: it was asked another question than {folders[0]}")
    holder = {arm: next(one for one in found if arm in one.arms) for arm in arms}
    trained = [run for arm in arms for run in holder[arm].runs if run.arm == arm]
    untrained = [run for run in first.runs if run.seed is None]
    return replace(first, runs=[*trained, *untrained], control=control)


def joined(work: Path, name: str) -> tuple[Comparison, dict[str, str]] | None:
    """What is kept of a study and what is newly trained, which takes the place of the same arm that is kept.

    Returns:
        The comparison and the commit of each trained arm; nothing where its control is in neither.
    """
    study, folders = STUDIES[name], done(work, name)
    commits = {arm: commit_of(out).read_text(encoding="utf-8").strip() for arm, out in folders.items()}
    sources = list(folders.values())
    if (RESULTS / name / STUDY).exists():
        earlier = known(name)["commits"]
        if (RESULTS / name / RANKS).exists():
            sources.append(RESULTS / name)
        elif lost := [arm for arm in earlier if arm not in commits]:
            raise SystemExit(f"{name}: no ranks are kept of {', '.join(lost)}: train these arms again too")
        require_alike(name, [arm for arm in earlier if arm not in commits])
        commits = earlier | commits
    if study.control not in commits:
        return None
    return merged(sources, study.control, [arm for arm in study.arms if arm in commits]), commits


def law_of(out: Path) -> str | None:
    """The law that an arm measured on its training events, as an expression; ``None`` if it measured none."""
    made = read_recipe(next((out / "models").glob("*/model.toml")), Blueprint).model
    laws = [
        kernel
        for clock in clocks_of(made.encoding)
        if isinstance(clock, ClockRoPE)
        for kernel in clock.kernels
        if isinstance(kernel, Measured)
    ]
    return str(laws[0]) if laws else None


def laws_of(work: Path, name: str) -> dict[str, str]:
    """Of each measured arm that is kept or newly trained."""
    kept = known(name).get("laws", {}) if (RESULTS / name / STUDY).exists() else {}
    found = {arm: law_of(out) for arm, out in done(work, name).items()}
    return kept | {arm: law for arm, law in found.items() if law is not None}


def told_to(name: str) -> tuple[str, dict[str, str]]:
    """Command of a study, and what arms of it have of their own."""
    study = STUDIES[name]
    own = {arm: " ".join(options) for arm, options in study.arms.items() if options}
    return " ".join(["rota compare", *study.log, *study.options]), own


def require_alike(name: str, arms: Sequence[str]) -> None:
    """Refuse arms that are kept from a study that was told otherwise."""
    kept, (command, own) = known(name), told_to(name)
    changed = [arm for arm in arms if kept["options"].get(arm) != own.get(arm)]
    if arms and kept["command"] != command:
        changed = list(arms)
    if changed:
        raise SystemExit(f"{name}: {', '.join(changed)} were told otherwise: train these arms again too")


def facts(
    name: str, found: Comparison, commits: Mapping[str, str], laws: Mapping[str, str]
) -> dict[str, Any]:
    """What study.json says: how the arms were trained, and the difference from each control."""
    study, (command, own) = STUDIES[name], told_to(name)
    controls = [study.control, *(arm for arm in AGAINST if arm in found.arms)]
    return {
        "study": name,
        "about": study.about,
        "seeds": study.seeds,
        "command": command,
        "options": own,
        "commits": {arm: commits[arm] for arm in study.arms if arm in commits},
        "not_run": [arm for arm in study.arms if arm not in commits],
        "laws": laws,
        "paired": [
            pair for control in controls for pair in replace(found, control=control).to_json()["paired"]
        ],
    }


def run(logs: Path, names: Sequence[str], processes: int, work: Path) -> None:
    """Train what is not done yet, and write each study when all of its arms have come to an end."""
    with ThreadPoolExecutor(processes) as pool:
        trained = {
            name: [pool.submit(train, logs, work, name, arm) for arm in STUDIES[name].arms] for name in names
        }
        for name, arms in trained.items():
            for arm in arms:
                arm.result()
            write(work, name)


def write(work: Path, name: str) -> None:
    """Keep what a study has come to."""
    if (both := joined(work, name)) is None:
        return
    folder = RESULTS / name
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=RESULTS) as new:
        both[0].save(new)
        (Path(new) / STUDY).write_text(
            json.dumps(facts(name, *both, laws_of(work, name)), indent=1) + "\n", encoding="utf-8"
        )
        for path in Path(new).iterdir():
            path.replace(folder / path.name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="train what is not done, and write the results")
    running.add_argument("logs", type=Path)
    running.add_argument("studies", nargs="+", choices=list(STUDIES))
    running.add_argument("--processes", type=int, default=2)
    running.add_argument("--work", type=Path, default=Path("runs/quality"))
    commands.add_parser("write", help="write the results that are kept into docs/results.md")
    given = parser.parse_args()
    if given.command == "run":
        run(given.logs, given.studies, given.processes, given.work)
    else:
        write_page()


if __name__ == "__main__":
    main()
