"""Metrics by slice as a table for the terminal: bins, what they are counted over, their means."""

import math

from rich import box
from rich.markup import escape
from rich.table import Table

from rota.errors import InputError
from rota.evaluation.significance import PairedDifference
from rota.evaluation.sliced_figures import Sliced, SlicedRow

__all__ = ["slices_table"]

_NONE = "-"


def slices_table(found: Sliced, *, title: str, control: str = "", headline: str = "MRR") -> Table:
    """Table of a slice, legible at 80 columns and without colour; a dash is a figure that is not defined.

    Questions are counted where users have several.

    Args:
        found: Metrics by bin.
        title: What was asked: arm, data, split.
        control: Name of the run that differences are from; where there is one, they are in the last column.
        headline: Metric whose paired difference is shown.

    Raises:
        InputError: There is a control and the headline is not among the metrics.
    """
    if control and headline not in found.metrics:
        raise InputError(f"headline {headline!r}: expected one of {', '.join(found.metrics)}")
    table = Table(title=escape(title), title_style="bold", title_justify="left", box=box.SIMPLE_HEAD,
                  caption=_caption(control, headline), caption_style="dim", caption_justify="left",
                  pad_edge=False, collapse_padding=True)  # fmt: skip
    table.add_column(escape(found.name), overflow="fold")
    rolling = any(row.questions != row.users for row in (*found.rows, found.whole))
    for name in ("users", *(["questions"] if rolling else []), *found.metrics):
        table.add_column(escape(name), justify="right", no_wrap=True)
    if control:
        table.add_column(escape(f"{headline} vs {control}"), no_wrap=True)
    for row in found.rows:
        table.add_row(*_cells(row, found.metrics, control, headline, rolling))
    table.add_section()
    table.add_row(*_cells(found.whole, found.metrics, control, headline, rolling))
    return table


def _caption(control: str, headline: str) -> str:
    text = "Means over users, of those of their questions that are in the bin; - where there is none."
    if control:
        text += (
            f" Last column: paired difference in {headline} from {control}, with its 95 % bootstrap interval "
            "over users; * and colour (green better, red worse) where the interval excludes zero."
        )
    return escape(text)


def _cells(row: SlicedRow, metrics: tuple[str, ...], control: str, headline: str, rolling: bool) -> list[str]:
    cells = [escape(row.label), f"{row.users:,}", *([f"{row.questions:,}"] if rolling else [])]
    cells += [_number(row.means[name]) for name in metrics]
    if control:
        cells.append(_NONE if row.paired is None else _difference(row.paired[headline]))
    return cells


def _number(value: float, sign: str = "") -> str:
    """Three decimals without the leading zero: .583, +.032."""
    return _NONE if math.isnan(value) else f"{value:{sign}.3f}".replace("0.", ".", 1)


def _difference(found: PairedDifference) -> str:
    diff, low, high = (_number(value, "+") for value in found)
    text = escape(f"{diff} [{low}, {high}]")
    if found.lo > 0:
        return f"[green]{text}*[/]"
    return f"[red]{text}*[/]" if found.hi < 0 else text
