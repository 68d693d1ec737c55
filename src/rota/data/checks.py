"""What a log's clock must satisfy before anything is learnt from it."""

from rota.data.events import Events
from rota.errors import InputError
from rota.units import ticks_per_second

__all__ = []

_MINUTE = 60
_YEAR = 31_557_600  # Julian, s
_MOST_YEARS = 200


def check_span(events: Events) -> None:
    """Refuse a clock that stands still or is in the wrong unit.

    Raises:
        InputError: All times are equal, or they span under a minute or over 200 years.
    """
    time = events.table.time
    found = events.table.aggregate(first=time.min(), last=time.max(), count=time.count()).to_pyarrow()
    first, last, count = (found[name][0].as_py() for name in ("first", "last", "count"))
    second = ticks_per_second(events.unit)
    how = "stated, or of the column's type" if events.unit_stated else "inferred from the magnitude"
    if first == last:
        raise InputError(
            f"{events.where}: the time is constant: all {count} times are {first}: expected times that "
            "differ; give the column with the time of each event"
        )
    if last - first < _MINUTE * second:
        span = f"{(last - first) / second:.6g} seconds, under a minute"
    elif last - first > _MOST_YEARS * _YEAR * second:
        span = f"{(last - first) / second / _YEAR:.6g} years, over {_MOST_YEARS}"
    else:
        return
    raise InputError(
        f"{events.where}: the time spans {span}, in unit {events.unit!r} ({how}), from {first} to {last}: "
        "probably the wrong unit, or a placeholder for no time; state the unit (unit=, --unit) or remove rows"
    )
