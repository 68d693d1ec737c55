"""Resolution: the grid that a log's times lie on, below which no lag can be seen."""

import numpy as np

from rota.types import Int64Array
from rota.units import ticks_per_second

__all__: list[str] = ["time_resolution"]

_GRIDS = (86_400, 43_200, 21_600, 10_800, 7200, 3600, 1800, 900, 600, 300, 60, 30, 15, 10, 5, 1)  # s
_NEARLY_ALL = 0.99
_LOOKED_AT = 1_000_000


def time_resolution(times: Int64Array, unit: str) -> float:
    """Coarsest grid of a day, hour, minute and so on that nearly all times lie on, in seconds.

    The grid may begin anywhere: dates that were written as instants lie at one hour of the day.

    Args:
        times: In ticks of ``unit``, shape ``(events,)``; of very many, some are looked at.
        unit: s, ms, us or ns.
    """
    ticks = ticks_per_second(unit)
    some = np.asarray(times[:: max(1, len(times) // _LOOKED_AT)])
    for grid in _GRIDS:
        _, counts = np.unique(some % (grid * ticks), return_counts=True)
        if counts.max(initial=0) >= _NEARLY_ALL * len(some):
            return float(grid)
    return 1 / ticks
