"""Draw a law that was measured: lift, law and draw, near and far, and what the law is made of."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rota.analysis.designs import Design
from rota.analysis.law_fit import LawFit
from rota.frequencies.quality import realised_profile
from rota.plots.law_panel import legend_above
from rota.plots.panels import time_axis
from rota.plots.style import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PALETTE,
    QUIET,
    SKY,
    VERMILION,
    house_style,
    save_figure,
)
from rota.plots.wording import lag_text
from rota.types import Float64Array
from rota.units import seconds

__all__ = ["draw_measured", "measured_figure"]

_WIDTH, _HEIGHT = 10.0, 9.4  # inches
_LEFT, _RIGHT, _MIDDLE = 0.075, 0.975, 0.63
_POINTS = 2881
_NEAR, _FAR = 48.0, 24.0 * 28  # hours
_DAY = 86_400.0


def measured_figure(law: LawFit, design: Design, name: str) -> Figure:
    """Figure of four panels: the first days and all lags that were fitted; harmonics, and shares of f(0).

    Args:
        law: Fitted to what was measured.
        design: Drawn from it.
        name: Of the log.
    """
    longest = float(law.lift.lags[-1]) / 3600
    with house_style():
        figure = Figure(figsize=(_WIDTH, _HEIGHT))
        _head(figure, law, design, name)
        near = figure.add_axes((_LEFT, 0.57, _RIGHT - _LEFT, 0.28))
        far = figure.add_axes((_LEFT, 0.36, _RIGHT - _LEFT, 0.125))
        left = figure.add_axes((_LEFT, 0.065, _MIDDLE - 0.035 - _LEFT, 0.16))
        right = figure.add_axes((_MIDDLE + 0.115, 0.065, _RIGHT - _MIDDLE - 0.115, 0.16))
        _curves(near, law, design, min(_NEAR, longest))
        near.set_title("Profile f(lag): the lift over its fitted value at lag 0", pad=24.0)
        legend_above(near, 4)
        _curves(far, law, None, min(_FAR, longest))
        far.set_title("The same, farther")
        far.set_xlabel("lag in hours and days")
        _harmonics(left, law)
        _shares(right, law)
    return figure


def draw_measured(law: LawFit, design: Design, name: str, path: str | Path) -> None:
    """Write `measured_figure` to a file.

    Raises:
        InputError: As `save_figure`.
    """
    figure = measured_figure(law, design, name)
    with house_style():
        save_figure(figure, path)


def _head(figure: Figure, law: LawFit, design: Design, name: str) -> None:
    heads, pairs = design.frequencies.cycles_per_second.shape
    figure.text(
        _LEFT, 0.978, f"The routines of {name}, measured", size=13, weight="bold", va="top", color=INK
    )
    lift = law.lift
    lines = [
        f"{lift.num_users:,} users, {lift.num_pairs:,} pairs of events in bins of {lag_text(lift.width)}. "
        f"The law lies inside the 95 % band at {law.within:.0%} of lags.",
        f"Drawn: {heads} heads of {pairs} pairs, {design.method}; RMS error {design.rmse.heads.mean():.3f} a "
        f"head, {design.rmse.together:.3f} their mean; {design.still[0]:.0%} of pairs never rotate.",
    ]
    figure.text(_LEFT, 0.942, "\n".join(lines), size=9, va="top", color=QUIET, linespacing=1.4)


def _curves(axis: Axes, law: LawFit, design: Design | None, longest: float) -> None:
    """Lift with its band, law, and where one is given a draw's, up to a lag in hours."""
    observed = law.observed()
    shown = observed.lags <= longest * 3600 * (1 + 1e-9)
    hours = observed.lags[shown] / 3600
    low, high, value = (each[shown] for each in (observed.low, observed.high, observed.value))
    axis.fill_between(hours, low, high, color=QUIET, alpha=0.25, linewidth=0, label="95 % band over users")
    axis.plot(hours, value, ".", color=QUIET, markersize=3.0 if design else 1.2, label="measured")
    lag = np.linspace(0.0, longest * 3600, _POINTS)
    axis.plot(
        lag / 3600, law.kernel(lag), color=VERMILION, linewidth=2.2 if design else 0.9, label="law", zorder=3
    )
    if design is not None:
        mean = realised_profile(design.frequencies, lag).mean(axis=0)
        axis.plot(lag / 3600, mean, color=BLUE, linewidth=1.1, label="drawn, mean of heads", zorder=3)
    if law.first > law.lift.width and design is not None:
        axis.axvspan(0, law.first / 3600, color=ORANGE, alpha=0.10, linewidth=0, zorder=0.5)
        at, said = (law.first / 3600, 0.93), "\N{LEFTWARDS ARROW} not fitted"
        axis.annotate(said, at, (4, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
                      va="center", size=8.0, color=QUIET)  # fmt: skip
    axis.axhline(0.0, color=INK, linewidth=0.7, zorder=1.5)
    axis.set_ylim(*_room(law, low, value, lag))
    time_axis(axis, longest)


def _room(law: LawFit, low: Float64Array, value: Float64Array, lag: Float64Array) -> tuple[float, float]:
    """Room for the law and for what was measured; what is half as high again is noise of rare lags."""
    bottom = min(float(np.nanquantile(low, 0.01)), float(law.kernel(lag).min()), 0.0)
    return bottom - 0.04, float(np.clip(np.nanmax(value), 1.0, 1.5)) + 0.06


def _harmonics(axis: Axes, law: LawFit) -> None:
    axis.set_title("What recurs: harmonics of each period", pad=18.0)
    if not law.kernel.periodic:
        axis.set_axis_off()
        axis.text(0.0, 0.6, "No period was found.", transform=axis.transAxes, color=QUIET)
        return
    for color, (share, part) in zip(PALETTE, law.kernel.periodic, strict=False):
        period, numbers, masses = part.arrays()
        places = numbers * _DAY / period
        axis.vlines(places, 0, share * masses, color=color, linewidth=1.4)
        axis.plot(places, share * masses, "o", color=color, markersize=3.0, label=lag_text(period))
    axis.set_xlim(0, None)
    axis.set_ylim(0, None)
    axis.yaxis.set_major_locator(MaxNLocator(4))
    axis.set_xlabel("frequency in cycles a day")
    axis.set_ylabel("share of f(0)")
    legend_above(axis, 4)


def _shares(axis: Axes, law: LawFit) -> None:
    """Bars: each period, each decay, and what stays."""
    kernel = law.kernel
    periods = zip(PALETTE, kernel.periodic, strict=False)
    bars = [(lag_text(seconds(part.period)), share, color) for color, (share, part) in periods]
    bars += [(f"fades, {lag_text(seconds(part.width))}", share, GREEN) for share, part in kernel.recency]
    bars.append(("stays", kernel.static, SKY))
    for row, (label, share, color) in enumerate(bars):
        axis.barh(row, share, color=color, height=0.62)
        axis.annotate(f"{share:.0%}", (share, row), (4, 0), textcoords="offset points", va="center", size=8.0,
                      color=INK)  # fmt: skip
        axis.annotate(label, (0, row), (-5, 0), textcoords="offset points", va="center", ha="right", size=8.5,
                      color=INK)  # fmt: skip
    axis.set_title("Shares of f(0)", pad=18.0)
    axis.set_ylim(max(len(bars), 5) - 0.4, -0.6)
    axis.set_xlim(0, max(share for _, share, _ in bars) * 1.18)
    axis.set_axis_off()
