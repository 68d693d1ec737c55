"""Draw the routines of a log: the lift with its band over the first cycles, and over all lags."""

import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from rota.analysis.lift import Lift
from rota.analysis.routines import Routines
from rota.plots.routines_words import lag_words, period_text, period_word, routines_verdict
from rota.plots.style import BLUE, GREEN, INK, ORANGE, PURPLE, QUIET, SKY, VERMILION, house_style, save_figure
from rota.plots.wording import lag_text

__all__: list[str] = ["draw_routines", "routines_figure"]

_WIDTH, _HEIGHT = 9.4, 2.35  # inches of a panel
_LEFT, _RIGHT, _FOOT, _BETWEEN = 0.72, 0.22, 0.62, 0.86
_LINE, _SMALL = 0.25, 0.18  # inches of a line of the title, and of what is below it
_CONFIDENCE = 0.95
_COLOURS = (VERMILION, GREEN, ORANGE, PURPLE, INK)  # as many as periods are found at most
_BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.8}
_CYCLES = 2.25  # of a second period that are shown
_WITHOUT = 8 * 86_400.0  # lags that are shown where there is no period
_POINTS = 800  # that a line has room for
_ENOUGH, _NARROW = 100, 24  # pairs expected in a bin; bins of a period
_TICKS = (60, 300, 900, 3600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600, 2_592_000)  # s
_SCALE = (60, 900, 3600, 14_400, 86_400, 345_600, 1_209_600, 5_184_000, 31_536_000)  # s
_NOTE = (
    "Lift: how often two events of one user so far apart are of the same {by}, over how often they would be "
    "if his were dealt to his times at random. Pale: {confidence:.0%} of bootstrap samples of users. "
    "Dashed: chance."
)


def routines_figure(found: Routines) -> Figure:
    """Figure of two panels or three: the first cycles of the strongest period, of the longest, and all lags.

    Args:
        found: What `find_routines` returned.
    """
    panels, title, note = _panels(found), *_heading(found)
    head = 0.5 + _LINE * len(title) + _SMALL * len(note)
    down = head + (len(panels) + 1) * _HEIGHT + len(panels) * _BETWEEN + _FOOT
    with house_style():
        figure = Figure(figsize=(_WIDTH, down))
        across = (_LEFT / _WIDTH, 1 - (_LEFT + _RIGHT) / _WIDTH)
        tops = [head + row * (_HEIGHT + _BETWEEN) for row in range(len(panels) + 1)]
        axes = [
            figure.add_axes((across[0], 1 - (top + _HEIGHT) / down, across[1], _HEIGHT / down))
            for top in tops
        ]
        for axis, (name, lift) in zip(axes, panels, strict=False):
            _draw_lift(axis, lift, found)
            axis.set_title(name)
        _draw_octaves(axes[-1], found)
        figure.text(across[0], 1 - 0.14 / down, "\n".join(title), size=13, weight="bold", va="top", color=INK)
        figure.text(across[0], 1 - (0.19 + _LINE * len(title)) / down, "\n".join(note), size=8.5, va="top",
                    color=QUIET, linespacing=1.35)  # fmt: skip
    return figure


def draw_routines(found: Routines, path: str | Path) -> None:
    """Write `routines_figure` to a file.

    Raises:
        InputError: As `save_figure`.
    """
    figure = routines_figure(found)
    with house_style():
        save_figure(figure, path)


def _heading(found: Routines) -> tuple[list[str], list[str]]:
    """Lines of the title and of what is below it."""
    note = _NOTE.format(by=found.by, confidence=_CONFIDENCE)
    users = f"{found.name}: {found.lift.num_pairs:,} pairs of {found.lift.num_users:,} users. {note}"
    return textwrap.wrap(_sentence(routines_verdict(found)), 76), textwrap.wrap(users, 124)


def _panels(found: Routines) -> list[tuple[str, Lift]]:
    """Titles and lifts of the panels with an even axis."""
    if not found.periods:
        return [("The first days", _up_to(found.lift, _WITHOUT))]
    first = found.periods[0].seconds
    panels = [(f"From near: the first cycles of {period_text(first)}", _smooth(found.near, first))]
    longest = max(each.seconds for each in (*found.periods, *found.faint))
    if longest > float(found.near.lags[-1]):
        panels.append((f"The first cycles of {period_text(longest)}", _up_to(found.lift, _CYCLES * longest)))
    return panels


def _up_to(lift: Lift, longest: float) -> Lift:
    """Shorter, and no finer than a line can show."""
    bins = max(int(np.searchsorted(lift.lags, longest * (1 + 1e-9), side="right")), 1)
    some = replace(
        lift, lags=lift.lags[:bins], same=lift.same[:, :bins], pairs=lift.pairs[:, :bins],
        expected=lift.expected[:, :bins],
    )  # fmt: skip
    times = bins // _POINTS
    return _smooth(some.coarser(times + 1 - times % 2) if times > 1 else some, longest / _CYCLES)


def _smooth(lift: Lift, period: float) -> Lift:
    """Bins wide enough for the noise of most to be small, if they are still narrow beside the period."""
    for times in (1, 3, 5, 9):
        wider = lift.coarser(times) if len(lift.lags) > 2 * times else lift
        counted = float(np.median(wider.expected.sum(axis=0)))
        if counted >= _ENOUGH or 3 * wider.width > period / _NARROW:
            return wider
    return wider


def _draw_lift(axis: Axes, lift: Lift, found: Routines) -> None:
    lo, hi = lift.band(_CONFIDENCE)
    reach = float(lift.lags[-1])
    for number, each in enumerate((*found.periods, *found.faint)):
        if each.seconds < reach / 40 or each.seconds > reach:
            continue
        at = each.seconds * np.arange(1, int(reach / each.seconds * (1 + 1e-9)) + 1)
        style = "-" if number < len(found.periods) else ":"
        for place in at.tolist():
            axis.axvline(place, color=_COLOURS[number], linewidth=1.0, alpha=0.7, linestyle=style, zorder=1.2)
    axis.fill_between(lift.lags, lo, hi, color=SKY, alpha=0.4, linewidth=0, step=None)
    axis.plot(lift.lags, lift.value, color=BLUE, linewidth=1.2)
    axis.axhline(1.0, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1.5)
    step = next((tick for tick in _TICKS if reach / tick <= 12), 90 * 86_400)
    axis.xaxis.set_major_locator(FixedLocator(np.arange(0, reach + step / 2, step).tolist()))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda lag, _: lag_words(float(lag), reach) if lag else "0"))
    axis.set_xlim(0, reach)
    top = float(np.nanmax(lift.value)) if np.isfinite(lift.value).any() else 1.0
    axis.set_ylim(0, 1.12 * max(top, 1.25))
    axis.yaxis.set_major_locator(MaxNLocator(nbins=5))
    axis.set_ylabel("lift")
    _name_periods(axis, found, reach)


def _name_periods(axis: Axes, found: Routines, reach: float) -> None:
    """Names of the periods above their first lines."""
    for number, each in enumerate((*found.periods, *found.faint)):
        if reach / 40 <= each.seconds <= reach:
            faint = "" if number < len(found.periods) else ", faint"
            text = f" {period_word(each)}: +{each.strength:.2f} ({each.lo:.2f} to {each.hi:.2f}){faint}"
            axis.annotate(text, (each.seconds, 1), (2, -2), xycoords=("data", "axes fraction"),
                          textcoords="offset points", va="top", size=8.0,
                          color=_COLOURS[number], bbox=_BEHIND)  # fmt: skip


def _draw_octaves(axis: Axes, found: Routines) -> None:
    octaves = found.octaves
    at = np.array([float(np.sqrt(each.shortest * each.longest)) for each in octaves])
    lifts = np.array([each.lift for each in octaves])
    axis.fill_between(at, [each.lo for each in octaves], [each.hi for each in octaves], color=SKY, alpha=0.4,
                      linewidth=0)  # fmt: skip
    axis.plot(at, lifts, "o-", color=BLUE, linewidth=1.2, markersize=3.5)
    axis.axhline(1.0, color=INK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1.5)
    axis.set_xscale("log")
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlim(at[0] / 1.3, at[-1] * 1.3)
    axis.xaxis.set_major_locator(
        FixedLocator([tick for tick in _SCALE if at[0] / 1.3 <= tick <= at[-1] * 1.3])
    )
    axis.xaxis.set_major_formatter(FuncFormatter(lambda lag, _: lag_text(float(lag))))
    axis.set_ylim(0, 1.15 * max(float(np.nanmax([each.hi for each in octaves])), 1.25))
    axis.yaxis.set_major_locator(MaxNLocator(nbins=5))
    axis.set_ylabel("lift")
    axis.set_xlabel("lag between two events of one user")
    axis.set_title("All lags, by octaves: recency")
    if found.recency is not None:
        half = found.recency.half_life
        axis.axvline(half, color=PURPLE, linewidth=1.0, zorder=1.2)
        axis.annotate(f" half of the recency is gone after {lag_text(half)} ", (half, 1), (3, -2),
                      xycoords=("data", "axes fraction"), textcoords="offset points", va="top", size=8.0,
                      color=PURPLE, ha="left" if half < np.sqrt(at[0] * at[-1]) else "right")  # fmt: skip


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
