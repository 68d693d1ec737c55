"""Tables and learning curves of the studies that are kept, for docs/results.md."""

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import DOCS, write_between
from studies import STUDIES

from rota.kernels.expression import parse_kernel
from rota.plots.learning import draw_learning

RESULTS = Path(__file__).parent / "results" / "quality"
STUDY, COMPARISON, RANKS = "study.json", "results.json", "ranks.parquet"
PAGE = "results.md"
METRICS = ("HR@1", "HR@10", "MRR")


def known(name: str) -> dict[str, Any]:
    """What is kept of a study: study.json, and the comparison beside it."""
    folder = RESULTS / name
    read = {path: json.loads((folder / path).read_text(encoding="utf-8")) for path in (STUDY, COMPARISON)}
    return {**read[STUDY], "comparison": read[COMPARISON]}


def section(name: str) -> str:
    """What docs/results.md says of a study, between its marks."""
    kept = known(name)
    told, laws = kept["comparison"], kept.get("laws", {})
    arms = list(dict.fromkeys(run["arm"] for run in told["arms"]))
    controls = list(dict.fromkeys(pair["control"] for pair in kept["paired"]))
    heads = [*METRICS, *(f"MRR less {control}" for control in controls), "kept epochs", "commit"]
    lines = [
        f"`{kept['command']} --arms ... --seeds {kept['seeds']}`; split `{told['split']['hash'][:12]}`, "
        f"{told['data']['users']:,} users{own(kept['options'])}. MRR differences with 95 % intervals over "
        "users.",
        "",
        f"| arm | seeds | {' | '.join(heads)} |",
        f"|---|{'--:|' * (1 + len(heads))}",
        *(f"| {' | '.join(row(kept, arm, controls))} |" for arm in arms),
        *(f"| {' | '.join([arm, *[''] * (1 + len(heads))])} |" for arm in kept["not_run"]),
        *(
            ["", *(f"Law of `{arm}`: {parse_kernel(law).in_words}." for arm, law in laws.items())]
            if laws
            else []
        ),
        "",
        f"![Validation MRR of each training after each epoch](images/learning-{name}.png)",
    ]
    return "\n".join(lines)


def own(options: Mapping[str, str]) -> str:
    """Options that some arms have of their own."""
    return "".join(
        f"; `{said}` for {', '.join(arm for arm, given in options.items() if given == said)}"
        for said in dict.fromkeys(options.values())
    )


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
