"""Instants to the wall clock where the user was, by the zone's real rules: habits live on the local clock.

A routine at 20:00 stays at 20:00 when summer time begins, while its UTC time moves by an hour. Events are
ordered as instants first; in the hour that repeats when summer time ends, the wall clock may step back.
"""

import pyarrow as pa
import pyarrow.compute as pc

from rota.errors import InputError
from rota.types import Int64Array
from rota.units import ticks_per_second

__all__ = []

_DAY = 86_400
UTC = {"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "+00:00"}


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


def check_reach(least: int, most: int, unit: str, where: str) -> None:
    """Check that times can be shifted to any zone.

    Raises:
        InputError: One is too far from 1970.
    """
    if max(most, -least) + _DAY * ticks_per_second(unit) > 2**63 - 1:
        raise InputError(f"{where}: a time is too far from 1970 for int64 in unit {unit!r}: check the unit")


def wall_clock(ticks: Int64Array, unit: str, zone: str) -> Int64Array:
    """What a clock in a zone shows at instants, counted as if it were Unix time.

    Args:
        ticks: Unix times in ``unit``, shape ``(rows,)``.
        unit: s, ms, us or ns.
        zone: A zone that `check_zone` accepts.
    """
    if zone in UTC:
        return ticks
    shown = pc.local_timestamp(pa.array(ticks).cast(pa.timestamp(unit, zone)))
    clock: Int64Array = shown.cast(pa.int64()).to_numpy()
    return clock
