"""What a log's clock must satisfy before anything is learnt from it."""

from rota.data.instants import Instants
from rota.data.place import Place
from rota.errors import InputError
from rota.units import ticks_per_second

__all__ = []

_MINUTE = 60
_YEAR = 31_557_600  # Julian, s
_MOST_YEARS = 200


def check_span(instants: Instants, place: Place) -> None:
    """Refuse a clock that stands still or is in the wrong unit.

    Raises:
        InputError: All times are equal, or they span under a minute or over 200 years.
    """
    first, last = int(instants.ticks.min()), int(instants.ticks.max())
    second = ticks_per_second(instants.unit)
    how = "stated, or of the column's type" if instants.stated else "inferred from the magnitude"
    if first == last:
        count = len(instants.ticks)
        raise InputError(
            f"{place} is constant: all {count} times are {first}: expected times that differ; "
            "give the column with the time of each event"
        )
    if last - first < _MINUTE * second:
        span = f"{(last - first) / second:.6g} seconds, under a minute"
    elif last - first > _MOST_YEARS * _YEAR * second:
        span = f"{(last - first) / second / _YEAR:.6g} years, over {_MOST_YEARS}"
    else:
        return
    raise InputError(
        f"{place} spans {span}, in unit {instants.unit!r} ({how}), from {first} to {last}: "
        "probably the wrong unit, or a placeholder for no time; state the unit (unit=, --unit) or remove rows"
    )
