"""The table of what was trained beside RecTools, in the terminal and for docs/results.md."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from rectools_arms import ARMS
from rich.table import Table

from rota.evaluation import HR, MRR, NDCG

METRICS = (HR(10), NDCG(10), MRR())


def table(results: Mapping[str, Any]) -> Table:
    """One row an arm: means over seeds, and the difference from RecTools' at the same batch."""
    shown = Table(title=f"{results['about']}; split {results['split']['hash'][:12]}", header_style="bold")
    for column in (
        "arm",
        "seeds",
        *(metric.name for metric in METRICS),
        "MRR, less RecTools'",
        "epoch",
        "min",
        "commit",
    ):
        shown.add_column(column, justify="left" if column == "arm" else "right")
    for name in dict.fromkeys(run["arm"] for run in results["runs"]):
        runs = [run for run in results["runs"] if run["arm"] == name]
        less = [
            f"{pair['diff']:+.4f} [{pair['lo']:+.4f}, {pair['hi']:+.4f}]"
            for pair in results["paired"]
            if (pair["arm"], pair["control"], pair["metric"]) == (name, ARMS[name].against, "MRR")
        ]
        shown.add_row(
            name,
            str(len(runs)),
            *(spread([run["metrics"][metric.name] for run in runs]) for metric in METRICS),
            *(less or [""]),
            "/".join(str(run["best_epoch"] + 1) for run in runs),
            f"{statistics.mean(run['seconds'] for run in runs) / 60:.1f}",
            "/".join(dict.fromkeys(run["commit"] for run in runs)),
        )
    return shown


def section(results: Mapping[str, Any]) -> str:
    """What docs/results.md says: the table's rows, and what was not run."""
    shown = table(results)
    heads = [str(column.header) for column in shown.columns]
    rows = zip(*(column.cells for column in shown.columns), strict=True)
    return "\n".join(
        [
            f"{results['about']}; split `{results['split']['hash'][:12]}`. Mean minutes of a training on one "
            "thread, some of them beside other work.",
            "",
            f"| {' | '.join(heads)} |",
            f"|---|{'--:|' * (len(heads) - 1)}",
            *(f"| {' | '.join(map(str, row))} |" for row in rows),
            "",
            f"Not run: {'; '.join(results['not_run'])}.",
        ]
    )


def spread(values: Sequence[float]) -> str:
    """Mean, and standard deviation between seeds."""
    mean = f"{statistics.mean(values):.4f}"
    return mean if len(values) < 2 else f"{mean} ± {statistics.stdev(values):.4f}"
