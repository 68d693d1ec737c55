"""Draw a design: the profile with what seeds make of it, its law, and where truncation bites."""

import textwrap
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator, NullLocator

from rota.analysis.designs import Design
from rota.analysis.truncation import truncation_curve
from rota.plots.law_panel import draw_law, legend_above
from rota.plots.panels import time_axis
from rota.plots.style import BLUE, INK, QUIET, SKY, VERMILION, house_style, save_figure
from rota.spectra.lattice import Lattice
from rota.spectra.mixture import Mixture

__all__ = ["design_figure", "draw_design"]

_WIDTH, _HEIGHT = 10.0, 7.6  # inches
_LEFT, _RIGHT, _MIDDLE = 0.075, 0.975, 0.53
_DAY = 86_400.0
_FLOOR = 1e-7  # what truncation takes is shown down to here
_TIMES = "\N{MULTIPLICATION SIGN}"


def design_figure(design: Design) -> Figure:
    """Figure of three panels: profile, law, truncation."""
    with house_style():
        figure = Figure(figsize=(_WIDTH, _HEIGHT))
        _head(figure, design)
        wide = figure.add_axes((_LEFT, 0.475, _RIGHT - _LEFT, 0.317))
        left = figure.add_axes((_LEFT, 0.085, _MIDDLE - 0.035 - _LEFT, 0.245))
        right = figure.add_axes((_MIDDLE + 0.045, 0.085, _RIGHT - _MIDDLE - 0.045, 0.245))
        _profile(wide, design)
        draw_law(left, design)
        _truncation(right, design)
    return figure


def draw_design(design: Design, path: str | Path) -> None:
    """Write `design_figure` to a file.

    Raises:
        InputError: As `save_figure`.
    """
    figure = design_figure(design)
    with house_style():
        save_figure(figure, path)


def _head(figure: Figure, design: Design) -> None:
    heads, pairs = design.frequencies.cycles_per_second.shape
    title = textwrap.shorten(str(design.wanted), 108, placeholder=" …")
    figure.text(_LEFT, 0.972, title, size=13 if len(title) < 84 else 10.5, weight="bold", va="top", color=INK)
    verdict = {"yes": "Admissible", "no": "Not admissible", "undecided": "Not known to be admissible"}
    said = f"{verdict[design.certificate.verdict]}: {design.certificate.reason}."
    if design.drawn is not design.wanted:
        said += f" Drawn is the nearest admissible profile, {design.distance:.2g} away where it is farthest."
    drawn = (
        f"{heads} heads of {pairs} pairs, {design.method}; RMS error {design.rmse.heads.mean():.3f} a head, "
        f"{design.rmse.together:.3f} their mean; {design.still[0]:.0%} of pairs never rotate."
    )
    lines = [*textwrap.wrap(said, 138, max_lines=2, placeholder=" …"), drawn]
    figure.text(_LEFT, 0.93, "\n".join(lines), size=9, va="top", color=QUIET, linespacing=1.4)


def _profile(axis: Axes, design: Design) -> None:
    lags, spread = design.lags, design.spread
    hours = lags / 3600
    axis.fill_between(hours, *spread.head, color=SKY, alpha=0.28, linewidth=0, label="a head, 9 in 10 draws")
    axis.fill_between(
        hours, *spread.mean, color=BLUE, alpha=0.30, linewidth=0, label="mean of heads, 9 in 10"
    )
    if design.drawn is not design.wanted:
        axis.plot(
            hours,
            design.wanted(lags),
            color=INK,
            linewidth=1.3,
            linestyle=(0, (4, 2)),
            label="wanted",
            zorder=3,
        )
    name = "wanted" if design.drawn is design.wanted else "nearest admissible"
    axis.plot(hours, design.profile, color=VERMILION, linewidth=2.4, label=name)
    axis.plot(
        hours, design.realised.mean(axis=0), color=BLUE, linewidth=1.1, label="this draw, mean of heads"
    )
    axis.axhline(0.0, color=INK, linewidth=0.7, zorder=1.5)
    axis.set_title("Profile f(lag), and what draws realise", pad=24.0)
    legend_above(axis, 5)
    axis.yaxis.set_major_locator(MultipleLocator(0.5))
    _lag_axis(axis, float(lags[-1]))


def _lag_axis(axis: Axes, longest: float) -> None:
    if 2 * 3600 <= longest <= 56 * _DAY:
        time_axis(axis, longest / 3600)
        axis.set_xlabel("lag in hours and days")
        return
    unit, size = ("days", 24.0) if longest > _DAY else ("minutes", 1 / 60)
    axis.set_xlim(0, longest / 3600)
    top = longest / 3600 / size
    ticks = [float(value) for value in np.asarray(MaxNLocator(8).tick_values(0, top)) if 0 <= value <= top]
    axis.set_xticks([value * size for value in ticks], [f"{value:g}" for value in ticks])
    axis.set_xlabel(f"lag in {unit}")


def _truncation(axis: Axes, design: Design) -> None:
    curve = truncation_curve(design.whole)
    whole = design.whole.merged() if isinstance(design.whole, Mixture) else design.whole
    per = whole.period if isinstance(whole, Lattice) else _DAY
    at = curve.cycles_per_second * per
    marker = "o" if len(at) <= 24 else ""
    for values, color, label in (
        (curve.mass_cut, BLUE, "mass cut"),
        (curve.sup_error, VERMILION, "largest change of f"),
    ):
        shown = np.where(values > _FLOOR, values, np.nan)
        axis.plot(at, shown, color=color, linewidth=1.4, marker=marker, markersize=3.0, label=label)
    axis.set_yscale("log")
    axis.yaxis.set_minor_locator(NullLocator())
    axis.set_ylim(_FLOOR, 3)
    axis.set_xlim(0, float(at[-1]))
    axis.set_title("Where truncation bites", pad=22.0)
    unit = "harmonic kept" if isinstance(whole, Lattice) else "frequency kept, in cycles a day"
    axis.set_xlabel(f"largest {unit}")
    legend_above(axis, 2)
    _mark(axis, design, per)


def _mark(axis: Axes, design: Design, per: float) -> None:
    """Where this design cuts."""
    law = design.law
    if not law.mass_cut:
        axis.annotate(
            "this draw: nothing is cut", (0.02, 0.06), xycoords="axes fraction", size=8.0, color=QUIET
        )
        return
    at = design.highest * per
    axis.axvline(at, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
    axis.plot([at] * 2, [law.mass_cut, law.sup_error], "D", color=INK, markersize=4.0)
    rule = "default" if design.truncation is None else "as asked"
    said = f"this draw, {rule}:\nmass {law.mass_cut:.1g}, change {law.sup_error:.1g}"
    # The curves fall from left to right: below them, on the left, is room.
    axis.annotate(said, (0.02, 0.05), xycoords="axes fraction", size=8.0, color=INK, va="bottom",
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})  # fmt: skip
