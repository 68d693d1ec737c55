"""Draw a prior: the wanted profile and what the drawn frequencies realise."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from rota.analysis.profiles import Observed, ProfileFit
from rota.errors import InputError
from rota.plots.panels import panel_sheet, time_axis
from rota.plots.style import BLUE, INK, QUIET, SKY, VERMILION, house_style, save_figure
from rota.types import Float64Array

_POINTS = 2881  # one a minute over two days
_MEASURED = " Grey: measured, with its 95 % band over users."
_NOTE = (
    "Orange: wanted. Pale: each head of each layer, the mean of cos(2π · frequency · lag) over its pairs. "
    "Dark blue: their mean. Errors: root mean square over the lags shown."
)


def prior_figure(fits: Sequence[ProfileFit], *, hours: float = 48.0) -> Figure:
    """Figure with one panel a profile, for instance one a shard of the features.

    Args:
        fits: Wanted profiles with their drawn frequencies.
        hours: Longest lag shown.

    Raises:
        InputError: There is no profile, or ``hours`` is not above zero.
    """
    if not fits or not hours > 0:
        raise InputError(
            f"prior figure: {len(fits)} profiles up to {hours!r} h; expected at least one, above 0 h"
        )
    lag = np.linspace(0.0, hours * 3600.0, _POINTS)
    with house_style():
        figure, axes = panel_sheet(
            [(fit.label, _detail(fit, lag)) for fit in fits],
            title="The wanted profile, and what the drawn frequencies realise",
            note=_NOTE + (_MEASURED if any(fit.observed for fit in fits) else ""),
            x_label="lag between query and event, in hours and days",
            y_label="profile f(lag)",
        )
        for axis, fit in zip(axes, fits, strict=True):
            _draw(axis, fit, lag)
        time_axis(axes[0], hours)
        axes[0].yaxis.set_major_locator(MultipleLocator(0.5))
    return figure


def draw_prior(fits: Sequence[ProfileFit], path: str | Path, *, hours: float = 48.0) -> None:
    """Write `prior_figure` to a file.

    Raises:
        InputError: As `prior_figure` and `save_figure`.
    """
    figure = prior_figure(fits, hours=hours)
    with house_style():
        save_figure(figure, path)


def _draw(axis: Axes, fit: ProfileFit, lag: Float64Array) -> None:
    hours, realised = lag / 3600.0, fit.realised(lag)
    if fit.observed is not None:
        draw_observed(axis, fit.observed, float(lag[-1]))
    axis.plot(hours, realised.T, color=SKY, linewidth=0.6, alpha=0.55)
    axis.plot(hours, fit.wanted(lag), color=VERMILION, linewidth=2.6)
    axis.plot(hours, realised.mean(axis=0), color=BLUE, linewidth=1.2)
    axis.axhline(0.0, color=INK, linewidth=0.7, zorder=1.5)


def draw_observed(axis: Axes, observed: Observed, longest: float) -> None:
    """Draw what was measured and its band, up to a lag in seconds."""
    shown = observed.lags <= longest
    hours = observed.lags[shown] / 3600.0
    axis.fill_between(hours, observed.low[shown], observed.high[shown], color=QUIET, alpha=0.22, linewidth=0)
    axis.plot(hours, observed.value[shown], ".", color=QUIET, markersize=2.6)


def _detail(fit: ProfileFit, lag: Float64Array) -> str:
    layers, heads, pairs = fit.cycles_per_second.shape
    error = fit.rmse(lag)
    each, mean = error.heads.mean(), error.together
    times = "\N{MULTIPLICATION SIGN}"
    return f"{layers} {times} {heads} heads of {pairs} pairs; error {each:.3f} a head, {mean:.3f} their mean"
