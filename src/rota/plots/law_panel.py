"""Panel of a law: stems where it has atoms, a filled curve where it has a density."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from rota.analysis.designs import Design
from rota.plots.style import BLUE, ORANGE, QUIET, SKY
from rota.plots.wording import cycle_text
from rota.spectra.base import Law
from rota.spectra.discrete import Discrete
from rota.spectra.lattice import Lattice
from rota.types import Float64Array

__all__ = ["draw_law"]

_DAY = 86_400.0
_BINS = 240
_APART = 0.085  # of the axis: labels closer than this would touch
_SEEN = 5e-3  # mass of an atom worth its place on the axis


def draw_law(axis: Axes, design: Design) -> None:
    """Draw the law that frequencies come from, and the share that this draw gave each harmonic."""
    law = design.merged
    if isinstance(law, Lattice):
        _stems(axis, law.harmonics.astype(np.float64), law.masses, law.period)
        drawn = np.rint(design.frequencies.cycles_per_second * law.period)
        places, counts = np.unique(drawn, return_counts=True)
        axis.plot(places, counts / drawn.size, "o", color=ORANGE, markersize=5.5, markerfacecolor="none",
                  label="share in this draw")  # fmt: skip
        axis.set_xlabel(f"harmonic of {cycle_text(1 / law.period)}: turns in that time")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10))
    elif isinstance(law, Discrete):
        _stems(axis, law.frequencies * _DAY, law.masses, _DAY)
        axis.set_xlabel("frequency, in cycles a day")
    else:
        _bins(axis, law)
    axis.set_title("Law of the frequencies; labels: what one turn takes", pad=22.0)
    axis.set_ylim(0, axis.get_ylim()[1] * 1.1)
    legend_above(axis, 2)


def legend_above(axis: Axes, columns: int) -> None:
    """Legend between a panel and its title, where no curve is."""
    axis.legend(loc="lower left", bbox_to_anchor=(-0.008, 0.985), ncols=columns, handlelength=1.6,
                borderaxespad=0.2, columnspacing=1.6)  # fmt: skip


def _stems(axis: Axes, places: Float64Array, masses: Float64Array, per: float) -> None:
    axis.vlines(places, 0, masses, color=BLUE, linewidth=1.6 if len(places) < 60 else 0.9)
    axis.plot(places, masses, "o", color=BLUE, markersize=4.0 if len(places) < 60 else 2.0, label="mass")
    seen = places[masses > _SEEN * masses.max()]
    low, high = min(float(seen.min()), 0.0), max(float(seen.max()), 1.0)
    room = 0.06 * (high - low)
    axis.set_xlim(low - room, high + room)
    _label(axis, places, masses, per)


def _label(axis: Axes, places: Float64Array, heights: Float64Array, per: float) -> None:
    """What one turn takes, beside the tallest; none so near another that they would touch."""
    low, high = axis.get_xlim()
    labelled: list[float] = []
    for index in np.argsort(-heights, kind="stable").tolist():
        place = float(places[index])
        near = any(abs(place - other) < _APART * (high - low) for other in labelled)
        if near or place < 0 or heights[index] < 0.04 * heights.max() or len(labelled) == 8:
            continue
        labelled.append(place)
        axis.annotate(cycle_text(place / per), (place, heights[index]), (0, 6), textcoords="offset points",
                      ha="center", size=8.0, color=QUIET)  # fmt: skip


def _bins(axis: Axes, law: Law) -> None:
    """Mass in even bins, which shows atoms and densities on one scale."""
    absolute = law if law.is_folded else law.fold()
    top = min(float(absolute.quantile(0.995)), 6 * law.scale) * 1.04 * _DAY
    edges = np.linspace(0.0 if law.is_folded else -top, top, _BINS + 1)
    inside = np.diff(law.cdf(edges / _DAY))
    if law.is_folded:
        inside[0] += float(law.mass_at(0.0))  # an atom at the first edge, which `cdf` has below it
    axis.stairs(inside, edges, fill=True, color=SKY, alpha=0.6)
    axis.stairs(inside, edges, color=BLUE, linewidth=1.0, label=f"mass in each {edges[1] - edges[0]:.2g}")
    axis.set_xlim(edges[0], edges[-1])
    middles = (edges[1:] + edges[:-1]) / 2
    peak = np.zeros(_BINS, np.bool_)
    peak[1:-1] = (inside[1:-1] > inside[:-2]) & (inside[1:-1] > inside[2:])
    peak &= inside > 0.04 * inside.max()  # not rounding
    if peak.any():
        _label(axis, middles[peak], inside[peak], _DAY)
    half, most = (cycle_text(float(absolute.quantile(part))) for part in (0.5, 0.9))
    axis.set_xlabel(f"frequency, in cycles a day\nhalf of the pairs: {half} or more; 9 in 10: {most} or more")
