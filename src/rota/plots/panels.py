"""A sheet of small panels with common axes, under one title that says what is shown."""

import math
import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from rota.plots.style import INK, QUIET

_LEFT, _RIGHT, _BOTTOM = 0.72, 0.22, 0.78  # inches around the panels
_GAP_X, _GAP_Y = 0.30, 0.80  # inches between them
_LINE = 0.25  # inches of a line of the title
_BY_COUNT = {1: (1, 7.2, 3.2), 2: (2, 4.6, 2.8), 4: (2, 4.6, 2.5)}  # panels: columns, width, height in inches
_OTHERWISE = (3, 3.7, 2.3)


def panel_sheet(
    panels: Sequence[tuple[str, str]], *, title: str, note: str, x_label: str, y_label: str
) -> tuple[Figure, list[Axes]]:
    """A figure of panels in one to three columns, and their axes in order.

    Panels share both axes; only the lowest of a column and the first of a row carry labels. Sizes are set in
    inches, so that type keeps its size however many panels there are. Call it inside `house_style`.

    Args:
        panels: Name of each panel and one line of detail beneath it.
        title: What the sheet shows, in one sentence.
        note: How to read it.
        x_label: Below all panels.
        y_label: Left of all panels.
    """
    columns, width, height = _BY_COUNT.get(len(panels), _OTHERWISE)
    rows = math.ceil(len(panels) / columns)
    across = _LEFT + columns * width + (columns - 1) * _GAP_X + _RIGHT
    heading = textwrap.wrap(title, int((across - _LEFT) * 8.8))
    small = textwrap.wrap(note, int((across - _LEFT) * 13.5))
    top = 0.76 + _LINE * len(heading) + 0.19 * len(small)
    down = top + rows * height + (rows - 1) * _GAP_Y + _BOTTOM
    figure = Figure(figsize=(across, down))
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    figure.subplots_adjust(
        left=_LEFT / across, right=1 - _RIGHT / across, bottom=_BOTTOM / down, top=1 - top / down,
        wspace=_GAP_X / width, hspace=_GAP_Y / height,
    )  # fmt: skip
    axes = list(grid.flat)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
        axes[axes.index(axis) - columns].xaxis.set_tick_params(labelbottom=True)
    for axis, (name, detail) in zip(axes, panels, strict=False):
        axis.set_title(name, pad=19.0)
        axis.annotate(detail, (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points",
                      size=8.0, color=QUIET)  # fmt: skip
    figure.text(
        _LEFT / across, 1 - 0.16 / down, "\n".join(heading), size=13, weight="bold", va="top", color=INK
    )
    below = 1 - (0.21 + _LINE * len(heading)) / down
    figure.text(_LEFT / across, below, "\n".join(small), size=9, va="top", color=QUIET, linespacing=1.35)
    middle = (_LEFT + (across - _RIGHT - _LEFT) / 2) / across
    figure.text(middle, 0.14 / down, x_label, ha="center", va="bottom", color=INK)
    figure.text(0.16 / across, (_BOTTOM + (down - top - _BOTTOM) / 2) / down, y_label,
                rotation=90, ha="left", va="center", color=INK)  # fmt: skip
    return figure, axes[: len(panels)]


def time_axis(axis: Axes, hours: float) -> None:
    """Scale a sheet's common axis of time: ticks, and with them faint lines, at days or parts of one."""
    step = next((step for step in (1.0, 6.0, 24.0, 168.0) if hours / step <= 8), 24.0 * 30)
    axis.set_xlim(0, hours)
    axis.xaxis.set_major_locator(FixedLocator(np.arange(0, hours + 1e-9, step).tolist()))
    axis.xaxis.set_major_formatter(FuncFormatter(_hours_and_days))


def _hours_and_days(hours: float, _position: int | None) -> str:
    days = hours / 24
    return f"{hours:.0f}\n{days:.0f} d" if days and days == round(days) else f"{hours:.0f}"
