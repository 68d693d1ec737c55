"""Draw attention by time gap: an arm a panel, a seed a line."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from rota.analysis.contrast import daily_contrast
from rota.analysis.curves import AttentionByGap, pool_curves
from rota.errors import InputError
from rota.plots.panels import panel_sheet, time_axis
from rota.plots.style import BLUE, INK, SKY, house_style, save_figure
from rota.types import Float64Array

_FRACTIONS = {-1: "½", -2: "¼", -3: "⅛"}
_TIMES = "\N{MULTIPLICATION SIGN}"
_NOTE = (
    "Mean attention probability, relative to uniform attention over what each query could see "
    f"({_TIMES}1, the dark line). Thin: each seed; thick: their mean. "
    "Daily contrast: attention near 24, 48, … h over attention half a day before and after."
)


def attention_figure(curves: Mapping[str, Sequence[AttentionByGap]]) -> Figure:
    """Figure with one panel an arm.

    Args:
        curves: Curves of each arm, one a seed, all with the same bins.

    Raises:
        InputError: There is no arm, or an arm has no curve.
    """
    if not curves:
        raise InputError("attention figure: no arm was given; expected at least one with its curves")
    means = {arm: pool_curves(seeds) for arm, seeds in curves.items()}
    with house_style():
        figure, axes = panel_sheet(
            [(arm, _contrast(mean)) for arm, mean in means.items()],
            title="How much attention an event gets, by its age at the query",
            note=_NOTE,
            x_label="age of the event: time of the query minus its own, in hours and days",
            y_label="attention relative to uniform",
        )
        for axis, seeds, mean in zip(axes, curves.values(), means.values(), strict=True):
            for seed in seeds:
                axis.plot(seed.centres_hours, _positive(seed), color=SKY, linewidth=0.6, alpha=0.8)
            axis.plot(mean.centres_hours, _positive(mean), color=BLUE, linewidth=1.3)
            axis.axhline(1.0, color=INK, linewidth=0.9, zorder=1.5)
        time_axis(axes[0], float(next(iter(means.values())).centres_hours[-1]))
        _scale_attention(axes[0], [seed for seeds in curves.values() for seed in seeds])
    return figure


def draw_attention(curves: Mapping[str, Sequence[AttentionByGap]], path: str | Path) -> None:
    """Write `attention_figure` to a file.

    Raises:
        InputError: As `attention_figure` and `save_figure`.
    """
    figure = attention_figure(curves)
    with house_style():
        save_figure(figure, path)


def _contrast(mean: AttentionByGap) -> str:
    if mean.centres_hours[-1] < 36:  # no whole day with both its sides
        return ""
    return f"daily contrast {daily_contrast(mean):.2f}"


def _positive(curve: AttentionByGap) -> Float64Array:
    """Values that a logarithmic axis can show: a gap in the line where a bin is empty or exactly zero."""
    return np.where(curve.relative > 0, curve.relative, np.nan)


def _scale_attention(axis: Axes, curves: Sequence[AttentionByGap]) -> None:
    """Doublings: what the eye compares are ratios to uniform."""
    values = np.concatenate([curve.relative[curve.relative > 0] for curve in curves] or [np.ones(1)])
    low, high = (np.nanmin(values), np.nanmax(values)) if values.size else (1.0, 1.0)
    axis.set_yscale("log", base=2)
    axis.set_ylim(min(low / 1.15, 0.45), max(high * 1.15, 2.2))
    axis.yaxis.set_major_locator(LogLocator(base=2))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _times(value)))


def _times(value: float) -> str:
    power = round(np.log2(value))
    return _TIMES + (f"{2**power}" if power >= 0 else _FRACTIONS.get(power, f"1/{2**-power}"))
