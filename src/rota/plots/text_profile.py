"""A profile as text: what is wanted and where the heads lie, for a terminal."""

from itertools import pairwise

import numpy as np

from rota.errors import InputError
from rota.types import Float64Array

__all__ = ["profile_lines"]

_BLOCKS = {(True, True): "█", (True, False): "▀", (False, True): "▄"}
_GAP = 7  # characters left of the plot


def profile_lines(
    lags: Float64Array, wanted: Float64Array, realised: Float64Array, *, width: int = 66, height: int = 9
) -> list[str]:
    """Lines of a plot: blocks are the wanted profile, ``░`` spans the heads' realised ones.

    Args:
        lags: Seconds, even, shape ``(lags,)``.
        wanted: Profile at the lags.
        realised: Of each head, shape ``(heads, lags)``.
        width: Columns of the plot, beside 7 for labels.
        height: Rows; each is two blocks high.

    Raises:
        InputError: Width or height is under 2.
    """
    if min(width, height) < 2:
        raise InputError(f"plot of {width} columns and {height} rows: expected at least 2 of each")
    bottom = min(0.0, np.floor(4 * min(wanted.min(), realised.min())) / 4)
    top = max(1.0, float(realised.max()))
    edges = np.linspace(0, len(lags), width + 1).astype(int)
    columns = [slice(a, max(b, a + 1)) for a, b in pairwise(edges.tolist())]

    def level(value: float) -> int:  # half rows from the top
        return int(np.clip(round((top - value) / (top - bottom) * (2 * height - 1)), 0, 2 * height - 1))

    line, band = np.zeros((2 * height, width), bool), np.zeros((2 * height, width), bool)
    for x, lag in enumerate(columns):
        line[level(wanted[lag].max()) : level(wanted[lag].min()) + 1, x] = True
        band[level(realised[:, lag].max()) : level(realised[:, lag].min()) + 1, x] = True
    rows = []
    labels = {level(value) // 2: f"{value:g}" for value in (bottom, 0.0, 0.5, 1.0)}
    for row in range(height):
        upper, lower = line[2 * row], line[2 * row + 1]
        shade = band[2 * row] | band[2 * row + 1]
        marks = [
            _BLOCKS.get((bool(u), bool(w)), "░" if s else " ")
            for u, w, s in zip(upper, lower, shade, strict=True)
        ]
        rows.append(f"{labels.get(row, ''):>{_GAP - 2}} ┤{''.join(marks)}".rstrip())
    return [*rows, *_axis(float(lags[-1]), width)]


def _axis(longest: float, width: int) -> list[str]:
    """A line with ticks at quarters, and the lags below them."""
    units = (("d", 86_400.0, 3.0), ("h", 3600.0, 2.0), ("min", 60.0, 2.0))
    name, size = next(((name, size) for name, size, least in units if longest >= least * size), ("s", 1.0))
    at = [round(part * (width - 1) / 4) for part in range(5)]
    ticks = "".join("┴" if column in at else "─" for column in range(width))
    below = [" "] * (_GAP + width + 6)
    for part, column in enumerate(at):
        text = f"{longest * part / 4 / size:.3g} {name}" if part else "0"
        start = _GAP + column - len(text) // 2
        below[start : start + len(text)] = text
    return [f"{'':{_GAP - 1}}└{ticks}", "".join(below).rstrip()]
