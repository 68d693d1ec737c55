"""Resolution: the grid that a log's times lie on, below which no lag can be seen."""

import numpy as np

from rota.types import Int64Array
from rota.units import ticks_per_second

__all__: list[str] = ["time_resolution"]

_GRIDS = (86_400, 43_200, 21_600, 10_800, 7200, 3600, 1800, 900, 600, 300, 60, 30, 15, 10, 5, 1)  # s
_NEARLY_ALL = 0.99
_DAY, _QUARTERS = 86_400, 96
_MANY, _MORE = 0.01, 2  # of the events, and times as many as at any other quarter of an hour: dates, it seems
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


def midnight_share(times: Int64Array, unit: str) -> float:
    """Share of the events at midnight sharp, where they are so many that they seem to be dates; else 0.

    So it is from one event in a hundred on, if no other quarter of an hour has half as many to the tick: of
    true times hardly any is midnight sharp, and times that are rounded are as often at eleven or at one.

    Args:
        times: In ticks of ``unit`` on the clock whose midnight is meant, shape ``(events,)``; of very many,
            some are looked at.
        unit: s, ms, us or ns.
    """
    some = np.asarray(times[:: max(1, len(times) // _LOOKED_AT)])
    day = some % (_DAY * ticks_per_second(unit))
    quarter = _DAY // _QUARTERS * ticks_per_second(unit)
    sharp = np.bincount(day[day % quarter == 0] // quarter, minlength=_QUARTERS)
    seem = sharp[0] >= _MANY * len(some) and sharp[0] > _MORE * sharp[1:].max()
    return float(sharp[0] / len(some)) if seem else 0.0
