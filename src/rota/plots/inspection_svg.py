"""Pictures of a report on a log, as SVG that takes its colours from the page and stretches with it.

A picture is drawn in units of its own data and stretched to the room it has, so it holds no text: the page
sets the labels beside it, which keep their size on a phone.
"""

from collections.abc import Sequence
from html import escape

import numpy as np

from rota.plots.rates import daily_rates

__all__ = ["area_svg", "bar_svg", "columns_svg", "heat_svg"]

_COLUMNS = 420  # of the picture of volume: more than a phone can show, and enough for a screen
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_GAP = 0.06  # between cells, in cells


def heat_svg(week: Sequence[int], label: str) -> str:
    """Hours from left to right, weekdays from Monday down; the darker, the more events.

    Args:
        week: Events in the 168 hours from Monday 00:00.
        label: What a reader who cannot see it is told.
    """
    top = max(week) or 1
    cells = [
        f'<rect x="{k % 24 + _GAP / 2:.2f}" y="{k // 24 + _GAP:.2f}" width="{1 - _GAP}" '
        f'height="{1 - 2 * _GAP}" fill-opacity="{0.05 + 0.95 * events / top:.3f}"><title>'
        f"{_WEEKDAYS[k // 24]} {k % 24:02d}:00 to {(k % 24 + 1) % 24:02d}:00: {events:,} events"
        "</title></rect>"
        for k, events in enumerate(week)
    ]
    return _svg("heat", 24, 7, label, "".join(cells))


def columns_svg(values: Sequence[int], label: str) -> str:
    """Columns from zero, side by side.

    Args:
        values: Heights.
        label: What a reader who cannot see it is told.
    """
    top = max(values) or 1
    cells = [
        f'<rect x="{k + _GAP / 2:.2f}" y="{1 - value / top:.4f}" width="{1 - _GAP}" '
        f'height="{value / top:.4f}"><title>{k:02d}:00: {value:,} events</title></rect>'
        for k, value in enumerate(values)
    ]
    return _svg("columns", len(values), 1, label, "".join(cells))


def area_svg(daily: Sequence[int], silences: Sequence[tuple[int, int]], label: str) -> str:
    """Events a day over time; unexplained silences are bands behind it.

    Args:
        daily: Events of each day.
        silences: Pairs of an index of ``daily`` and a number of days.
        label: What a reader who cannot see it is told.
    """
    days, means = len(daily), daily_rates(daily, _COLUMNS)
    top, step = max(means) or 1, -(-days // _COLUMNS)
    least = days / _COLUMNS  # a band of one day in ten years would be too thin to be seen
    bands = [
        f'<rect class="silence" x="{start:g}" y="0" width="{max(length, least):g}" height="1"><title>'
        f"{length:,} days without any event</title></rect>"
        for start, length in silences
    ]
    points = [f"M0,1V{1 - means[0] / top:.4f}"]
    for k, mean in enumerate(means):
        points.append(f"V{1 - mean / top:.4f}H{min((k + 1) * step, days)}")
    return _svg("area", days, 1, label, f'{"".join(bands)}<path d="{"".join(points)}V1Z"/>')


def bar_svg(share: float) -> str:
    """One bar across, as long as a share of the room; beside its number, so without a label."""
    width = float(np.clip(share, 0, 1))
    return (
        '<svg class="bar" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect x="0" y="0" width="{width:.4f}" height="1"/></svg>'
    )


def _svg(kind: str, width: float, height: float, label: str, inside: str) -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(label)}">{inside}</svg>'
    )
