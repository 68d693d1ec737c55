"""Local times row by row: one zone for the log, a zone for each row, or an offset for each row."""

import numpy as np
import pyarrow as pa

from rota.data.events import OFFSET, ZONE, Events
from rota.data.zones import UTC, check_zone, wall_clock
from rota.types import Int64Array
from rota.units import ticks_per_second

__all__ = []


def has_local(events: Events) -> bool:
    """Whether the wall clock is known beside the instants, and differs from them."""
    if not events.absolute or not events.known_epoch:
        return False
    by_row = ZONE in events.table.columns or OFFSET in events.table.columns
    return by_row or (events.zone is not None and events.zone not in UTC)


def local_times(batch: pa.RecordBatch, events: Events) -> Int64Array:
    """The wall clock of each row, counted as if it were Unix time; shape ``(rows,)``.

    Args:
        batch: Rows with ``time`` and, where the log has them, ``zone`` or ``offset``.
        events: The log; `has_local` must be true of it.

    Raises:
        InputError: A zone is unknown.
    """
    ticks: Int64Array = batch["time"].to_numpy()
    if OFFSET in batch.schema.names:
        east: Int64Array = batch[OFFSET].to_numpy()
        return ticks + east * ticks_per_second(events.unit)
    if ZONE not in batch.schema.names:
        assert events.zone is not None
        return wall_clock(ticks, events.unit, events.zone)
    encoded = batch[ZONE].dictionary_encode()
    codes, local = encoded.indices.to_numpy(), np.empty_like(ticks)
    for code, zone in enumerate(encoded.dictionary.to_pylist()):
        check_zone(zone)
        here = codes == code
        local[here] = wall_clock(ticks[here], events.unit, zone)
    return local
