"""Where the time of a training step goes, by part: SASRec and HSTU on `fsq_nyc`.

    python benchmarks/profile_training.py run LOGS [--steps 60] [--threads 2]
    python benchmarks/profile_training.py write     # the table into docs/performance.md

`LOGS` is the folder that holds fsq_nyc.parquet. Two layers, width 64, two heads, length 100, batch 64, the
loss that rota has by default. Parts are marked for torch.profiler, and each operation counts to the innermost
mark around it. An operation of the backward pass counts to the part whose forward pass it answers, by the
sequence numbers that autograd gives both. The milliseconds of a step are of steps without the profiler.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import torch
from pages import write_between
from torch.autograd.profiler_util import FunctionEvent
from torch.profiler import ProfilerActivity, profile, record_function

from rota.encodings.base import Rotation
from rota.encodings.time_bias import GapBias
from rota.models import HSTU, SASRec
from rota.models.base import Model, Network
from rota.models.hstu import HSTULayer
from rota.models.sasrec import SASRecBlock
from rota.recipes.arm_models import arm_model
from rota.recipes.opening import open_log, stated
from rota.recipes.question import Question, ask_of
from rota.recipes.timing import circumstances
from rota.training import Training, TrainingWindows
from rota.training.lesson import Lesson
from rota.training.processes import Processes
from rota.training.step_batch import Syllabus

RESULT = Path(__file__).parent / "results" / "profile.json"
LOG = "fsq_nyc.parquet"
COLUMNS = {"user": "user_id", "item": "item_id", "time": "timestamp"}
SIZES = {"embedding_dim": 64, "num_layers": 2, "num_heads": 2, "max_len": 100, "dropout": 0.2}
BATCH, WARM = 64, 20
MARK = "part: "
PARTS = {
    "batch": "windows, and negatives drawn",
    "embedding": "items and positions",
    "attention": "its projections too; HSTU's gate",
    "time bias": "gaps and their buckets",
    "rotation": "phases and rotations of queries and keys",
    "feed-forward": "",
    "loss": "logits of targets and negatives",
    "optimiser": "clipping and AdamW",
    "the rest": "norms, sums, bookkeeping",
}
ARMS: dict[str, tuple[str, str]] = {
    "SASRec": ("sasrec", "none"),
    "SASRec, rope+clockrope": ("sasrec:rope+clockrope", "request"),
    "HSTU": ("hstu", "request"),
}


def recipe(arm: str) -> Model:
    """Network of an arm, of the sizes above."""
    name, _, parts = arm.partition(":")
    base = (HSTU if name == "hstu" else SASRec)(**SIZES)  # type: ignore[arg-type]
    return arm_model(parts, base) if parts else base


def mark(owner: Any, method: str, part: str) -> None:
    """Count what a method does to a part."""
    plain: Callable[..., Any] = getattr(owner, method)

    def marked(*given: Any, **named: Any) -> Any:
        with record_function(MARK + part):
            return plain(*given, **named)

    setattr(owner, method, marked)


def mark_all(network: Network, lesson: Lesson) -> None:
    """Mark the parts of a network and of what it learns by."""
    mark(lesson, "_losses", "loss")
    mark(lesson, "_update", "optimiser")
    mark(network, "forward", "the rest")
    mark(network.events, "forward", "embedding")
    for block in network.modules():
        if isinstance(block, SASRecBlock):
            mark(block.attention, "forward", "attention")
            mark(block.feed, "forward", "feed-forward")
        elif isinstance(block, HSTULayer):
            mark(block, "forward", "attention")
        elif isinstance(block, Rotation):
            mark(block, "forward", "rotation")
        elif isinstance(block, GapBias):
            mark(block, "buckets", "time bias")
            mark(block, "of_buckets", "time bias")


def shares(events: Iterable[FunctionEvent]) -> dict[str, dict[str, float]]:
    """Share of each part in the time of all, forward and backward."""
    asked = [(event, *place(event)) for event in events]
    forward = {
        event.sequence_nr: part
        for event, part, back in asked
        if part and back is None and event.sequence_nr >= 0
    }
    spent: dict[str, dict[str, float]] = {part: {"forward": 0.0, "backward": 0.0} for part in PARTS}
    for event, part, back in asked:
        if part is None:
            continue
        of, way = (part, "forward") if back is None else (forward.get(back, "the rest"), "backward")
        spent[of][way] += event.self_cpu_time_total
    total = sum(sum(ways.values()) for ways in spent.values())
    return {part: {way: time / total for way, time in ways.items()} for part, ways in spent.items()}


def place(event: FunctionEvent) -> tuple[str | None, int | None]:
    """Part in whose mark an operation is, ``None`` where in none; and which of autograd's it belongs to."""
    back = None
    while event is not None:
        if event.name.startswith("autograd::engine::evaluate_function"):
            back = event.sequence_nr
        if event.name.startswith(MARK):
            return event.name.removeprefix(MARK), back
        event = event.cpu_parent
    return None, back


def measured(arm: tuple[str, str], question: Question, steps: int) -> dict[str, Any]:
    """Milliseconds of a step, and the share of each part."""
    name, access = arm
    histories, model = question.histories, recipe(name)
    network = model.build(num_items=histories.num_items, unit=histories.unit, time_access=access, seed=0)
    windows = TrainingWindows(histories, question.stages.train, model.max_len, access)
    syllabus = Syllabus(windows, Training(batch_size=BATCH), seed=0)
    lesson = Lesson(network.train(), syllabus, "cpu", "32-true", Processes())
    batches = (batch for epoch in count() for batch in syllabus.batches(epoch, 0, pin=False))

    def step() -> float:
        began = time.perf_counter()
        with record_function(MARK + "batch"):
            batch = next(batches)
        with record_function(MARK + "the rest"):
            lesson.learn(batch, [])
        return 1e3 * (time.perf_counter() - began)

    plain = [step() for _ in range(WARM + steps)][WARM:]
    mark_all(network, lesson)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        for _ in range(steps):
            step()
    return {"milliseconds": plain, "shares": shares(profiled.events())}


def run(logs: Path, steps: int, threads: int) -> None:
    """Measure every arm, write the results."""
    torch.set_num_threads(threads)
    question = ask_of(open_log(str(logs / LOG), stated(**COLUMNS)).log)
    kept: dict[str, Any] = {"circumstances": circumstances("numpy"), "steps": steps, "arms": {}}
    for name, arm in ARMS.items():
        kept["arms"][name] = {"arm": arm[0], "time_access": arm[1], **measured(arm, question, steps)}
    RESULT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def section(kept: Mapping[str, Any]) -> str:
    """The table of the page: percent of a step, of the forward pass and of the backward pass."""
    when, arms = kept["circumstances"], kept["arms"]
    lines = [
        f"Percent of a step, forward + backward; {kept['steps']} steps, {when['threads']} threads of "
        f"{when['processor']}, torch {when['versions']['torch']}; `{when['commit']}`.",
        "",
        f"| part | {' | '.join(arms)} |",
        f"|---|{'--:|' * len(arms)}",
    ]
    for part, what in PARTS.items():
        cells = [cell(one["shares"][part]) for one in arms.values()]
        lines.append(f"| {part}{what and f': {what}'} | {' | '.join(cells)} |")
    everything = [
        {way: sum(ways[way] for ways in one["shares"].values()) for way in ("forward", "backward")}
        for one in arms.values()
    ]
    middle = [f"{statistics.median(one['milliseconds']):.0f}" for one in arms.values()]
    lines.append(f"| all | {' | '.join(map(cell, everything))} |")
    lines.append(f"| milliseconds of a step, median | {' | '.join(middle)} |")
    return "\n".join(lines)


def cell(ways: Mapping[str, float]) -> str:
    """Two percentages, or one where there is nothing of the other, or nothing."""
    forward, backward = (f"{100 * ways[way]:.1f}" for way in ("forward", "backward"))
    if backward == "0.0":
        return "" if forward == "0.0" else forward
    return f"{forward} + {backward}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="measure, write the results")
    running.add_argument("logs", type=Path)
    running.add_argument("--steps", type=int, default=60)
    running.add_argument("--threads", type=int, default=2)
    commands.add_parser("write", help="write the table into docs/performance.md")
    given = parser.parse_args()
    if given.command == "run":
        run(given.logs, given.steps, given.threads)
    else:
        write_between("performance.md", "profile", section(json.loads(RESULT.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
