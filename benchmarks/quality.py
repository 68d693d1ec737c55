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
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pages import DOCS, write_between

from rota.evaluation.loading import load_comparison
from rota.evaluation.results import Comparison
from rota.plots.learning import draw_learning

RESULTS = Path(__file__).parent / "results" / "quality"
STUDY, COMPARISON, RANKS = "study.json", "results.json", "ranks.parquet"
PAGE = "results.md"
WHO = ("--user", "user_id", "--item", "item_id", "--time", "timestamp")
NYC = ("fsq_nyc.parquet", *WHO, "--zone", "America/New_York")
FLIGHTS = ("flights", "--sample-users", "1000")
METRICS = ("HR@1", "HR@10", "MRR")
AGAINST = ("rope+clockrope", "frequency", "routine")  # beside the control: what an arm may be asked to beat


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
            "rope", "rope+clockrope", "rope+clockrope-measured", "none", "clockrope", "trope", "sasrec",
            "hstu", "tisasrec", "sasrec:calendar", "hstu:rope+clockrope",
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
        plain("rope", "rope+clockrope", "rope+clockrope-measured", "none", "clockrope", "trope"),
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
        ("mathoverflow.parquet", *WHO, "--sample-users", "1500"),
        plain("rope", "rope+clockrope", "rope+clockrope-measured", "none", "clockrope", "trope"),
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
        commits = earlier | commits
    if study.control not in commits:
        return None
    return merged(sources, study.control, [arm for arm in study.arms if arm in commits]), commits


def facts(name: str, found: Comparison, commits: Mapping[str, str]) -> dict[str, Any]:
    """What study.json says: how the arms were trained, and the difference from each control."""
    study = STUDIES[name]
    controls = [study.control, *(arm for arm in AGAINST if arm in found.arms)]
    return {
        "study": name,
        "about": study.about,
        "seeds": study.seeds,
        "command": " ".join(["rota compare", *study.log, *study.options]),
        "options": {arm: " ".join(options) for arm, options in study.arms.items() if options},
        "commits": {arm: commits[arm] for arm in study.arms if arm in commits},
        "not_run": [arm for arm in study.arms if arm not in commits],
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
        (Path(new) / STUDY).write_text(json.dumps(facts(name, *both), indent=1) + "\n", encoding="utf-8")
        for path in Path(new).iterdir():
            path.replace(folder / path.name)


def known(name: str) -> dict[str, Any]:
    """What is kept of a study: study.json, and the comparison beside it."""
    folder = RESULTS / name
    read = {path: json.loads((folder / path).read_text(encoding="utf-8")) for path in (STUDY, COMPARISON)}
    return {**read[STUDY], "comparison": read[COMPARISON]}


def section(name: str) -> str:
    """What docs/results.md says of a study, between its marks."""
    kept = known(name)
    told = kept["comparison"]
    arms = list(dict.fromkeys(run["arm"] for run in told["arms"]))
    controls = list(dict.fromkeys(pair["control"] for pair in kept["paired"]))
    heads = [*METRICS, *(f"MRR less {control}" for control in controls), "kept epochs", "commit"]
    lines = [
        f"`{kept['command']} --arms ... --seeds {kept['seeds']}`; split `{told['split']['hash'][:12]}`, "
        f"{told['data']['users']:,} users. MRR differences with 95 % intervals over users.",
        "",
        f"| arm | seeds | {' | '.join(heads)} |",
        f"|---|{'--:|' * (1 + len(heads))}",
        *(f"| {' | '.join(row(kept, arm, controls))} |" for arm in arms),
        *(f"| {' | '.join([arm, *[''] * (1 + len(heads))])} |" for arm in kept["not_run"]),
        "",
        f"![Validation MRR of each training after each epoch](images/learning-{name}.png)",
    ]
    return "\n".join(lines)


def write_page() -> None:
    """Put each study that is kept where its marks stand on the page, and draw its learning curves."""
    for name in STUDIES:
        if (RESULTS / name / STUDY).exists():
            write_between(PAGE, name, section(name))
            draw(name)


def draw(name: str) -> None:
    """Learning curves of a study."""
    curves: dict[str, list[Sequence[float]]] = {}
    for run in known(name)["comparison"]["arms"]:
        if "validation" in run:
            curves.setdefault(run["arm"], []).append(run["validation"])
    draw_learning(curves, DOCS / "images" / f"learning-{name}.png")


def row(kept: Mapping[str, Any], arm: str, controls: Sequence[str]) -> Iterator[str]:
    """Cells of one arm: means over seeds, with the deviation between them where there are several."""
    runs = [run for run in kept["comparison"]["arms"] if run["arm"] == arm]
    curves = [run["validation"] for run in runs if "validation" in run]
    yield arm
    yield str(len(curves)) if curves else ""
    for metric in METRICS:
        values = [run["metrics"][metric] for run in runs]
        spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
        yield f"{statistics.mean(values):.3f}{spread}"
    for control in controls:
        asked = (arm, control, "MRR")
        found = [pair for pair in kept["paired"] if (pair["arm"], pair["control"], pair["metric"]) == asked]
        yield "".join(f"{pair['diff']:+.3f} [{pair['lo']:+.3f}, {pair['hi']:+.3f}]" for pair in found)
    yield "/".join(f"{curve.index(max(curve)) + 1} of {len(curve)}" for curve in curves)
    yield f"`{kept['commits'][arm]}`" if arm in kept["commits"] else ""


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
