"""Narrow and wide heads: do they make more of a clock than heads that are all alike? For docs/routines.md.

    python benchmarks/heads.py run LOGS STUDY [--work runs/quality]
    python benchmarks/heads.py write     # the table into docs/routines.md

Half of each head's features is RoPE's, as in the arms `rope+clockrope` and `rope+clockrope-measured` of
`benchmarks/quality.py`, which must be trained before: this takes their plan from the folder, and their ranks
to compare with. The other half has one profile in the first head and another in the second; all else, the
seeds too, is the same.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from pages import write_between
from quality import folder_of
from rich.console import Console
from studies import STUDIES

from rota.analysis.foresight import slowed
from rota.encodings import ClockRoPE, Encoding, HeadSplit, RoPE, Split
from rota.evaluation.loading import load_comparison
from rota.kernels import Kernel, Measured, WrappedGaussian
from rota.models.blueprint import Blueprint
from rota.recipes.measuring import measure_law
from rota.recipes.opening import open_log, stated
from rota.recipes.plan import Plan
from rota.recipes.question import Question, ask_of
from rota.recipes.reporting import comparison_of
from rota.recipes.timing import circumstances
from rota.recipes.trial import run_trial
from rota.recipes.watching import Unwatched
from rota.toml import read_recipe

RESULT = Path(__file__).parent / "results" / "heads.json"
HAND, MEASURED = "rope+clockrope", "rope+clockrope-measured"
SLOW = 4 * 3600.0  # s: the cycle of the fastest harmonics of a wide measured head


def of_heads(narrow: Kernel, wide: Kernel) -> Encoding:
    """RoPE on half of each head's features, and on the other half a profile for each of two heads."""
    return Split((RoPE(), HeadSplit((ClockRoPE((narrow,)), ClockRoPE((wide,))))))


def variants(law: Measured, whole: Measured) -> Mapping[str, tuple[str, Encoding]]:
    """What is tried, each with the arm whose heads are alike.

    Args:
        law: Measured on the training events.
        whole: The same before harmonics were left out of it.
    """
    hand = of_heads(WrappedGaussian("24h", "1h"), WrappedGaussian("24h", "4h"))
    measured = of_heads(whole, slowed(law, SLOW)[0])
    return {
        "by hand: 1 h and 4 h wide": (HAND, hand),
        "measured: all harmonics, and those down to 4 h": (MEASURED, measured),
    }


def question_of(logs: Path, study: str, plan: Plan) -> Question:
    """What the study asks."""
    log, *told = STUDIES[study].log
    reading = {key.removeprefix("--"): value for key, value in zip(told[::2], told[1::2], strict=True)}
    sample = reading.pop("sample-users", None)
    source = str(logs / log) if log.endswith(".parquet") else log
    opened = open_log(source, stated(**reading), sample_users=None if sample is None else int(sample))
    return ask_of(opened.log, plan.protocol.split)


def run(logs: Path, work: Path, study: str) -> None:
    """Train what is tried on the study's log, and keep how it compares."""
    torch.set_num_threads(1)  # as the arms that it is compared with
    plan = read_recipe(folder_of(work, study, HAND) / "plan.toml", Plan)
    question = question_of(logs, study, plan)
    law = measure_law(question.histories, question.stages.train, instants=question.log.times)
    kept = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.is_file() else {}
    found = kept.setdefault(study, {"circumstances": circumstances("numpy", "lightning"), "tried": {}})
    for name, (control, encoding) in variants(
        law.kernel, law.whole.kernel if law.whole else law.kernel
    ).items():
        known = load_comparison(folder_of(work, study, control))
        if known.split_hash != question.stages.hash:
            raise SystemExit(f"{study}: {control} in {work} was asked another question")
        recipe = replace(plan.recipes()[HAND], encoding=encoding)
        runs = [one for one in known.runs if one.arm == control]
        for seed in range(plan.seeds):
            access = plan.protocol.time_access
            made = Blueprint(recipe, question.histories.num_items, question.log.unit, access, seed)
            trial = run_trial(name, made, question, plan.protocol, None, Unwatched())
            runs.append(trial.run)
            Console().print(f"{study}, {name}, seed {seed}: validation {max(trial.fitted.validation):.4f}")
        found["tried"][name] = comparison_of(question, plan.protocol, control, runs).to_json()
        RESULT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def section(kept: Mapping[str, Any]) -> str:
    """A row for each trial."""
    lines = ["| log | heads | seeds | MRR | all heads alike | difference |", "|---|---|--:|--:|--:|--:|"]
    for study, found in kept.items():
        for name, told in found["tried"].items():
            means = {}
            for arm in (name, told["paired"][0]["control"]):
                values = [one["metrics"]["MRR"] for one in told["arms"] if one["arm"] == arm]
                means[arm] = sum(values) / len(values)
            (pair,) = [one for one in told["paired"] if one["metric"] == "MRR" and one["arm"] == name]
            own, alike = means.values()
            span = f"{pair['diff']:+.3f} [{pair['lo']:+.3f}, {pair['hi']:+.3f}]"
            lines.append(f"| `{study}` | {name} | {len(values)} | {own:.3f} | {alike:.3f} | {span} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="train and keep")
    running.add_argument("logs", type=Path)
    running.add_argument("study", choices=["fsq_nyc", "flights"])
    running.add_argument("--work", type=Path, default=Path("runs/quality"))
    commands.add_parser("write", help="write what is kept into docs/routines.md")
    given = parser.parse_args()
    if given.command == "run":
        run(given.logs, given.work, given.study)
    write_between("routines.md", "heads", section(json.loads(RESULT.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
