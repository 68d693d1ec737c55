"""Routines of a log for a terminal of 80 columns: the verdict, its parts, and the lift in small bars."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from rota.analysis.lift import Lift
from rota.analysis.rhythm import Rhythm
from rota.analysis.routines import Routines
from rota.plots.inspection_text import bars
from rota.plots.inspection_words import printable
from rota.plots.routines_words import lag_words, period_word, routines_facts, routines_verdict
from rota.plots.wording import lag_text

__all__: list[str] = ["routines_report"]

_COLOURS = {
    Rhythm.ROUTINE: "bold green",
    Rhythm.RECENCY: "bold cyan",
    Rhythm.NOTHING: "bold yellow",
    Rhythm.UNKNOWN: "bold yellow",
}
_WIDE, _HEIGHT, _LEFT = 68, 7, 6
_OCTAVE = 4  # columns of one


def routines_report(found: Routines) -> RenderableType:
    """All of it as something that Rich prints.

    Args:
        found: What `find_routines` returned.
    """
    facts = Table.grid(padding=(0, 2))
    for label, value in routines_facts(found):
        facts.add_row(f"[bold]{label}[/]", escape(printable(value)))
    parts: list[RenderableType] = [
        facts,
        Text(),
        Text(routines_verdict(found), _COLOURS[found.verdict]),
        Text(),
    ]
    if found.periods or found.faint or found.recency is not None:
        parts += [_components(found), Text()]
    if found.periods:
        parts += [Text("\n".join(_near(found.near, found.periods[0].seconds))), Text()]
    parts += [Text("\n".join(_octaves(found))), Text(), Text(f"use: {found.use}")]
    return Group(*parts)


def _components(found: Routines) -> Table:
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    for name in ("", "strength", "95 %", ""):
        table.add_column(name, justify="right" if name else "left", no_wrap=bool(name))
    for each, half in zip(found.periods, found.half_widths, strict=True):
        interval = f"{each.lo:.2f} to {each.hi:.2f}"
        table.add_row(
            period_word(each), f"{each.strength:.2f}", interval, f"a peak {lag_text(2 * half)} wide"
        )
    for each in found.faint:
        interval = f"{each.lo:.2f} to {each.hi:.2f}"
        table.add_row(
            period_word(each), f"{each.strength:.2f}", interval, "faint: not worth a prior", style="dim"
        )
    if found.recency is not None:
        one = found.recency
        span = f"{lag_text(one.half_life_lo)} to {lag_text(one.half_life_hi)}"
        table.add_row(
            "recency", f"{one.strength:.2f}", f"{one.lo:.2f} to {one.hi:.2f}",
            f"half gone after {lag_text(one.half_life)} ({span})",
        )  # fmt: skip
    return table


def _near(near: Lift, period: float) -> list[str]:
    """The lift over the first cycles; a column is the mean of its pairs."""
    edges = np.linspace(0, len(near.lags), min(_WIDE, len(near.lags)) + 1).astype(np.int64)
    same, expected = near.same.sum(axis=0), near.expected.sum(axis=0)
    values = [_mean(float(same[a:b].sum()), float(expected[a:b].sum())) for a, b in pairwise(edges.tolist())]
    reach = float(near.lags[-1])
    places = [k * period for k in range(1, int(reach / period * (1 + 1e-9)) + 1)]
    marks = {round(place / reach * len(values)): lag_words(place, reach) for place in places}
    return _chart("lift by lag: how often the same again, over chance", values, 1, {0: "0", **marks})


def _octaves(found: Routines) -> list[str]:
    """The lift by octaves, each named by where it begins."""
    shown = found.octaves[-(_WIDE // _OCTAVE) :]
    begins = [lag_text(each.shortest + found.lift.width / 2).replace(" ", "") for each in shown]
    marks = {_OCTAVE * k: text for k, text in enumerate(begins) if k % 2 == 0}
    return _chart("lift by octaves of the lag", [each.lift for each in shown], _OCTAVE, marks)


def _mean(same: float, expected: float) -> float:
    return same / expected if expected > 0 else 0.0


def _chart(title: str, values: Sequence[float], wide: int, marks: dict[int, str]) -> list[str]:
    """Bars from zero, with the level of chance among the labels on the left."""
    top = max(1.0, *values)
    rows = bars([*values, top], wide, _HEIGHT)  # the last sets the scale and is cut off
    chance = _HEIGHT - 1 - min(int(_HEIGHT / top), _HEIGHT - 1)
    labels = {0: f"{top:.2g}", chance: "1"}
    lines = [
        f"{labels.get(row, ''):>{_LEFT - 2}} ┤{line[: wide * len(values)].rstrip()}"
        for row, line in enumerate(rows)
    ]
    axis = ["─"] * (wide * len(values))
    below = [" "] * (_LEFT + wide * len(values) + 8)
    for place, text in marks.items():
        if place < len(axis):
            axis[place] = "┴"
        start = max(_LEFT + place - len(text) // 2, 0)
        below[start : start + len(text)] = text
    return [title, *lines, f"{'0':>{_LEFT - 2}} └{''.join(axis)}", "".join(below).rstrip()]
