"""Draw what encodings make of a logit by the lag, one small panel an encoding."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, MultipleLocator

from rota.analysis.modulations import Along, Modulation
from rota.plots.panels import time_axis
from rota.plots.style import BLUE, INK, QUIET, SKY, VERMILION, house_style, save_figure

__all__ = ["draw_modulation", "modulation_figure"]

_WIDTH, _HEIGHT = 7.4, 2.35  # inches
_LEFT, _RIGHT, _BOTTOM, _TOP = 0.62, 0.24, 0.62, 0.42


def modulation_figure(found: Modulation, title: str) -> Figure:
    """Figure of one panel: pale each head, dark their mean, dotted the mean for a query elsewhere.

    Args:
        found: What was measured.
        title: Of the encoding.
    """
    with house_style():
        figure = Figure(figsize=(_WIDTH, _HEIGHT))
        axis = figure.add_axes(
            (
                _LEFT / _WIDTH,
                _BOTTOM / _HEIGHT,
                1 - (_LEFT + _RIGHT) / _WIDTH,
                1 - (_BOTTOM + _TOP) / _HEIGHT,
            )
        )
        _curves(axis, found)
        _axes(axis, found)
        axis.set_title(title, pad=9.0)
        axis.legend(loc="lower right", bbox_to_anchor=(1.012, 0.985), ncols=3, handlelength=1.7,
                    borderaxespad=0.2, columnspacing=1.5)  # fmt: skip
    return figure


def draw_modulation(found: Modulation, path: str | Path, *, title: str) -> None:
    """Write `modulation_figure` to a file.

    Raises:
        InputError: As `save_figure`.
    """
    figure = modulation_figure(found, title)
    with house_style():
        save_figure(figure, path)


def _curves(axis: Axes, found: Modulation) -> None:
    at = _at(found)
    axis.axhline(0.0, color=INK, linewidth=0.7, zorder=1.5)
    first, *others = axis.plot(at, found.heads.T, color=SKY, linewidth=0.7, alpha=0.6)
    first.set_label("each head" if others else "the head")
    axis.plot(at, found.mean, color=BLUE, linewidth=1.7, label="mean")
    where = "100 days and 5 h later" if found.along == Along.TIME else "777 events later"
    axis.plot(at, found.elsewhere, color=VERMILION, linewidth=1.2, linestyle=(0, (1, 1.6)), label=where)


def _at(found: Modulation) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return found.lags / (3600.0 if found.along == Along.TIME else 1.0)


def _axes(axis: Axes, found: Modulation) -> None:
    furthest = float(_at(found)[-1])
    if found.along == Along.TIME:
        time_axis(axis, furthest)
        axis.set_xlabel("hours and days between event and query", color=QUIET)
    else:
        axis.set_xlim(0, furthest)
        ticks = [tick for tick in MaxNLocator(8, integer=True).tick_values(0, furthest) if tick <= furthest]
        axis.xaxis.set_major_locator(FixedLocator(ticks))
        axis.set_xlabel("events between event and query", color=QUIET)
    lowest = min(float(found.heads.min()), float(found.elsewhere.min()))
    highest = max(float(found.heads.max()), float(found.elsewhere.max()))
    axis.set_ylim(min(-0.12, lowest - 0.06), max(1.08, highest + 0.06))
    axis.yaxis.set_major_locator(MultipleLocator(0.5))
    axis.set_ylabel("modulation", color=QUIET)
