"""Quarters: events by quarter of an hour, which is all that calendars need to know of a log."""

import ibis.expr.types as ir
import numpy as np

from rota.data.doctor.aggregates import columns_of, floor_to
from rota.data.doctor.hours import LONGEST, QUARTER, Hours, local_quarters
from rota.data.events import OFFSET, ZONE, Events
from rota.types import Int64Array
from rota.units import ticks_per_second

__all__ = ["count_quarters", "crowded_instant"]

_CROWD = 0.01  # share of a log in one instant from which it is worth naming


def count_quarters(log: Events) -> tuple[Hours, Hours | None]:
    """Events by quarter of an hour as the times say, and as the users' clocks showed.

    Only the quarters that hold an event come out of the database; zones are applied to those.

    Args:
        log: One whose times span no more than some centuries.

    Returns:
        The clock of the times; the users' clock, ``None`` where their zone is not known.

    Raises:
        InputError: A zone is unknown.
    """
    second = ticks_per_second(log.unit)
    table, by_row = log.table, [name for name in (ZONE, OFFSET) if name in log.table.columns]
    start = floor_to(table.time, QUARTER * second)
    marked = table.select(*by_row, start=start, sharp=(table.time == start))
    found = marked.group_by("start", *by_row).agg(events=marked.count(), sharp=marked.sharp.sum())
    read = found.to_pyarrow()
    starts: Int64Array = read["start"].to_numpy() // second
    counts, sharp = (read[name].cast("int64").to_numpy() for name in ("events", "sharp"))
    clock = Hours(starts, counts, sharp)
    if not log.known_epoch or _far(starts):
        return clock, None
    if not log.absolute:
        return clock, clock
    if not by_row and log.zone is None:
        return clock, None
    offsets = read[OFFSET].to_numpy() if OFFSET in by_row else None
    zones = read[ZONE].to_pylist() if ZONE in by_row else str(log.zone)
    return clock, Hours(local_quarters(starts, zones, offsets), counts, sharp)


def _far(starts: Int64Array) -> bool:
    """Times beyond the reach of the rules of zones, most likely in another unit."""
    return bool(np.abs(starts).max() > LONGEST)


def crowded_instant(table: ir.Table, clock: Hours, second: int) -> tuple[int, int]:
    """The instant that most events share, and how many; (0, 0) if under one in a hundred share any.

    Args:
        table: As in `Events`.
        clock: Its quarters of an hour: only crowded ones can hold a crowded instant.
        second: Ticks in a second.
    """
    quarters, where = np.unique(clock.starts, return_inverse=True)
    sums = np.zeros(len(quarters), dtype=np.int64)
    np.add.at(sums, where, clock.counts)
    least = _CROWD * int(sums.sum())
    crowded = [int(start) * second for start in quarters[sums >= least]]
    if not crowded:
        return 0, 0
    near = table.filter(floor_to(table.time, QUARTER * second).isin(crowded))
    each = near.group_by("time").agg(events=near.count())
    found = columns_of(each.order_by([each.events.desc(), each.time]).limit(1))
    time, events = int(found["time"][0]), int(found["events"][0])
    return (time, events) if events >= least else (0, 0)
