"""Instants to the wall clock of a time zone, by the zone's real rules: habits live on the local clock.

A routine at 20:00 stays at 20:00 when summer time begins, while its UTC time moves by an hour. Events are
ordered as instants first; in the hour that repeats when summer time ends, the wall clock may step back.
"""

import pyarrow as pa
import pyarrow.compute as pc

from rota.data.instants import Instants
from rota.errors import InputError
from rota.types import Int64Array
from rota.units import ticks_per_second

__all__ = []

_DAY = 86_400
_UTC = {"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "+00:00"}


def check_zone(zone: str) -> None:
    """Check that a zone's rules are known.

    Raises:
        InputError: They are not.
    """
    try:
        known = bool(zone) and pc.local_timestamp(pa.scalar(0, pa.timestamp("s", zone))) is not None
    except pa.ArrowInvalid:
        known = False
    if not known:
        raise InputError(
            f"unknown time zone {zone!r}: expected a name of the time zone database, "
            'for instance "America/New_York", or an offset like "+05:30"'
        )


def wall_clock(instants: Instants, zone: str | None, where: str) -> tuple[Int64Array, str | None]:
    """The clock that a model sees, and the zone it shows.

    Args:
        instants: Times of all events.
        zone: Zone to show. ``None`` takes the zone of the column's type; numbers then stay Unix time.
        where: Log and column, for the message.

    Returns:
        Ticks in the unit of ``instants``, shape ``(rows,)``. Readings of a wall clock are kept as they are:
        ``zone`` only labels them.

    Raises:
        InputError: The zone is unknown, or a time is too far from 1970 to be shifted.
    """
    zone = zone if zone is not None else instants.zone
    if zone is None or not instants.absolute:
        return instants.ticks, zone
    check_zone(zone)
    if zone in _UTC:
        return instants.ticks, "UTC"
    reach = max(int(instants.ticks.max()), -int(instants.ticks.min()))
    if reach + _DAY * ticks_per_second(instants.unit) > 2**63 - 1:
        raise InputError(
            f"{where}: a time is too far from 1970 for int64 in unit {instants.unit!r}: check the unit"
        )
    shown = pc.local_timestamp(pa.array(instants.ticks).cast(pa.timestamp(instants.unit, zone)))
    clock: Int64Array = shown.cast(pa.int64()).to_numpy()
    return clock, zone
