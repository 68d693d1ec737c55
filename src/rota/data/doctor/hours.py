"""Hours: what a log's clock and calendar show, from counts by quarter of an hour."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rota.data.doctor.counts import Counts, count_values
from rota.data.zones import check_zone, wall_clock
from rota.types import Int64Array

__all__ = ["Hours", "local_quarters"]

QUARTER, DAY = 900, 86_400  # s; every zone of today is a whole number of quarters from UTC
LONGEST = 200 * 366 * DAY  # s: no log is older than its trade
_MONDAY = 3  # 1970 began on a Thursday


@dataclass(frozen=True, eq=False)
class Hours:
    """Events by quarter of an hour on one clock.

    Attributes:
        starts: Where quarters begin, in seconds; shape ``(quarters,)``.
        counts: Events in them; shape ``(quarters,)``.
        sharp: Events at the very beginning of them; shape ``(quarters,)``.
    """

    starts: Int64Array
    counts: Int64Array
    sharp: Int64Array

    def of_week(self) -> tuple[int, ...]:
        """Events in each of the 168 hours of the week, from Monday 00:00."""
        day, second = np.divmod(self.starts, DAY)
        sums = np.zeros(168, dtype=np.int64)
        np.add.at(sums, (day + _MONDAY) % 7 * 24 + second // 3600, self.counts)
        return tuple(int(each) for each in sums)

    def daily(self) -> Counts:
        """Events of each day that has any; days count from 1970, or from the log's own zero."""
        return count_values(self.starts // DAY, self.counts)

    def at_one_time_of_day(self) -> int:
        """Events at the most frequent time of day, to the tick, of those that begin a quarter."""
        sharp = count_values(self.starts % DAY, self.sharp)
        return int(sharp.times.max(initial=0))


def local_quarters(starts: Int64Array, zones: Sequence[str] | str, offsets: Int64Array | None) -> Int64Array:
    """Quarters of an hour as the clocks on users' walls showed them, by the zones' real rules.

    Args:
        starts: Unix time in seconds, shape ``(quarters,)``.
        zones: Zone of all, or of each.
        offsets: Instead of zones, seconds east of UTC of each.

    Raises:
        InputError: A zone is unknown.
    """
    if offsets is not None:
        return starts + offsets
    named = np.asarray([zones] if isinstance(zones, str) else zones, dtype=np.str_)
    local = starts.copy()
    for zone in np.unique(named).tolist():
        check_zone(zone)
        here = np.broadcast_to(named == zone, starts.shape)
        local[here] = wall_clock(starts[here], "s", zone)
    return local
