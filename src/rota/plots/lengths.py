"""Draw what something costs by the length of a history: a straight line is linear."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from rota.errors import InputError
from rota.plots.style import BLUE, INK, QUIET, VERMILION, house_style, save_figure

_COLOURS = (QUIET, BLUE, VERMILION)


def lengths_figure(lengths: Sequence[int], seconds: Mapping[str, Sequence[float]], *, title: str) -> Figure:
    """Figure of median seconds by length, both on logarithmic axes, one line a contender.

    Args:
        lengths: Events of a history, ascending.
        seconds: Median of each contender at each length, by its name; at most three contenders.
        title: What is timed.

    Raises:
        InputError: No lengths, or numbers that do not match them.
    """
    if (
        not lengths
        or not 0 < len(seconds) <= len(_COLOURS)
        or {len(s) for s in seconds.values()} != {len(lengths)}
    ):
        raise InputError("timings by length: expected one to three contenders with a number for each length")
    with house_style():
        figure = Figure(figsize=(7.2, 4.2))
        axis = figure.subplots()
        figure.subplots_adjust(left=0.11, right=0.86, bottom=0.13, top=0.86)
        for (name, values), colour in zip(seconds.items(), _COLOURS, strict=False):
            axis.loglog(
                lengths,
                [1e3 * value for value in values],
                color=colour,
                linewidth=2,
                marker="o",
                markersize=4,
            )
            axis.annotate(name, (lengths[-1], 1e3 * values[-1]), (8, 0), textcoords="offset points",
                          va="center", color=colour, size=9, weight="bold")  # fmt: skip
        last = list(seconds.values())[-1][-1]
        axis.loglog(lengths, [1e3 * last * length / lengths[-1] for length in lengths], color=INK,
                    linewidth=0.7, linestyle=(0, (2, 3)), zorder=1.5)  # fmt: skip
        axis.set_title(title, fontsize=12, pad=14)
        axis.set_xlabel("events in the history; the dotted line is linear")
        axis.set_ylabel("milliseconds, median")
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.grid(visible=False, which="minor")
    return figure


def draw_lengths(
    lengths: Sequence[int], seconds: Mapping[str, Sequence[float]], path: str | Path, *, title: str
) -> None:
    """Write `lengths_figure` to a file.

    Raises:
        InputError: As `lengths_figure` and `save_figure`.
    """
    figure = lengths_figure(lengths, seconds, title=title)
    with house_style():
        save_figure(figure, path)
