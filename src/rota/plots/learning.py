"""Draw learning curves: an arm a panel, a seed a line, the epoch that was kept a dot."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rota.errors import InputError
from rota.plots.panels import panel_sheet
from rota.plots.style import BLUE, INK, SKY, house_style, save_figure

_NOTE = (
    "MRR of the validation after each epoch, a line each seed. Dots: the epoch whose weights were kept and "
    "asked the test. Dashed: the best arm's mean. A line that still rises at its end was stopped too early."
)


def learning_figure(curves: Mapping[str, Sequence[Sequence[float]]]) -> Figure:
    """Figure with one panel an arm.

    Args:
        curves: Validation score after each epoch, for each seed of each arm.

    Raises:
        InputError: There is no arm, or an arm has a training without an epoch.
    """
    if not curves or not all(seeds and all(seeds) for seeds in curves.values()):
        raise InputError("learning figure: expected at least one arm, each with epochs of its seeds")
    with house_style():
        figure, axes = panel_sheet(
            [(arm, _best(seeds)) for arm, seeds in curves.items()],
            title="How each arm learnt",
            note=_NOTE,
            x_label="epoch",
            y_label="validation MRR",
        )
        for axis, seeds in zip(axes, curves.values(), strict=True):
            for scores in seeds:
                epochs = range(1, len(scores) + 1)
                best = max(epochs, key=lambda epoch: scores[epoch - 1])
                axis.plot(epochs, scores, color=SKY, linewidth=1.0)
                axis.plot([best], [scores[best - 1]], "o", color=BLUE, markersize=3.5)
            axis.axhline(_top(curves), color=INK, linewidth=0.6, linestyle=(0, (4, 3)), zorder=1.5)
        axes[0].xaxis.set_major_locator(MaxNLocator(integer=True, nbins=5))
        axes[0].set_xlim(0.7, max(len(scores) for seeds in curves.values() for scores in seeds) + 0.3)
    return figure


def draw_learning(curves: Mapping[str, Sequence[Sequence[float]]], path: str | Path) -> None:
    """Write `learning_figure` to a file.

    Raises:
        InputError: As `learning_figure` and `save_figure`.
    """
    figure = learning_figure(curves)
    with house_style():
        save_figure(figure, path)


def _best(seeds: Sequence[Sequence[float]]) -> str:
    return f"best {sum(max(scores) for scores in seeds) / len(seeds):.3f}"


def _top(curves: Mapping[str, Sequence[Sequence[float]]]) -> float:
    """Best mean of an arm, to compare the panels by."""
    return max(sum(max(scores) for scores in seeds) / len(seeds) for seeds in curves.values())
