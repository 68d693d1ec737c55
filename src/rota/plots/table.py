"""The comparison as a table for the terminal: arms, their means, their paired difference from the control."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich import box
from rich.markup import escape
from rich.table import Table

from rota.errors import InputError

_SHORT = 12  # letters of a control whose name the heading has room for
_ROOM = 18  # letters of an arm that stand beside the numbers at 80 columns

Interval = tuple[float, float, float]
"""A difference with its interval: (difference, low, high)."""


@dataclass(frozen=True)
class TableRow:
    """One arm of a comparison.

    Attributes:
        arm: Its name.
        kind: Whether it was trained; untrained baselines stand apart.
        seeds: Trainings that the means are over; 0 for a baseline.
        means: Mean of each metric.
        differences: Paired difference from the control, by metric: (difference, low, high); ``None`` for the
            control itself and where none was computed.
    """

    arm: str
    kind: Literal["trained", "untrained"]
    seeds: int
    means: Mapping[str, float]
    differences: Mapping[str, Interval] | None = field(default=None)


def comparison_table(
    rows: Sequence[TableRow], *, control: str, title: str, metrics: Sequence[str], headline: str = "MRR"
) -> Table:
    """Table of a comparison, legible at 80 columns and without colour.

    Args:
        rows: Arms in the order to show.
        control: Arm that the differences are from.
        title: What was compared: data, split, time access.
        metrics: Metrics to show, in order.
        headline: Metric whose paired difference is shown.

    Raises:
        InputError: The control is not among the rows, or a row lacks a metric.
    """
    _check(rows, control, [*metrics, headline])
    table = Table(title=escape(title), title_style="bold", title_justify="left", box=box.SIMPLE_HEAD,
                  caption=_caption(control, headline), caption_style="dim", caption_justify="left",
                  pad_edge=False, collapse_padding=True)  # fmt: skip
    table.add_column("arm", overflow="fold")  # a long name gives way, numbers do not
    table.add_column("seeds", justify="right", no_wrap=True)
    for metric in metrics:
        table.add_column(escape(metric), justify="right", no_wrap=True)
    against = control if len(control) <= _SHORT else "control"
    table.add_column(escape(f"{headline} vs {against}"), no_wrap=True)
    trained = [row for row in rows if row.kind == "trained"]
    best = {metric: max((_rounded(row.means[metric]) for row in trained), default=0.0) for metric in metrics}
    for row in trained:
        table.add_row(*_cells(row, control, metrics, headline, best))
    untrained = [row for row in rows if row.kind == "untrained"]
    if untrained:
        table.add_section()
        table.add_row("[italic]untrained[/]")
    for row in untrained:
        table.add_row(*_cells(row, control, metrics, headline, {}))
    return table


def _check(rows: Sequence[TableRow], control: str, metrics: Sequence[str]) -> None:
    if control not in [row.arm for row in rows]:
        raise InputError(f"control {control!r}: expected one of {', '.join(row.arm for row in rows)}")
    for row in rows:
        for metric in metrics:
            if metric not in row.means:
                raise InputError(f"arm {row.arm!r} has no {metric!r}: it has {', '.join(row.means)}")


def _caption(control: str, headline: str) -> str:
    return escape(
        f"Means over seeds; the best trained arm is bold. Last column: paired difference in {headline} from "
        f"{control}, with its 95 % bootstrap interval over users; * and colour (green better, red worse) "
        "where the interval excludes zero."
    )


def _cells(
    row: TableRow, control: str, metrics: Sequence[str], headline: str, best: Mapping[str, float]
) -> list[str]:
    values = {metric: _rounded(row.means[metric]) for metric in metrics}
    texts = {metric: _short(f"{value:.3f}") for metric, value in values.items()}
    return [
        escape(row.arm if len(row.arm) <= _ROOM else row.arm.replace("+", "+\n")),
        str(row.seeds) if row.kind == "trained" else "",
        *(
            f"[bold]{texts[metric]}[/]" if values[metric] == best.get(metric) else texts[metric]
            for metric in metrics
        ),
        "control" if row.arm == control else _difference((row.differences or {}).get(headline)),
    ]


def _rounded(value: float) -> float:
    """What differs only beyond the third decimal counts as equal."""
    return round(value, 3)


def _short(number: str) -> str:
    """Without the leading zero: .583, +.032."""
    return re.sub(r"^([+-]?)0\.", r"\1.", number)


def _difference(interval: Interval | None) -> str:
    if interval is None:
        return ""
    difference, low, high = (_short(f"{value:+.3f}") for value in interval)
    text = escape(f"{difference} [{low}, {high}]")
    if interval[1] > 0:
        return f"[green]{text}*[/]"
    return f"[red]{text}*[/]" if interval[2] < 0 else text
