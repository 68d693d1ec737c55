"""Reading: how a log is to be understood, as a person states it."""

from dataclasses import dataclass

from rota.choice import Choice
from rota.data.columns import Wanted
from rota.data.events import Ties
from rota.data.formats.base import OnError
from rota.data.zones import check_zone
from rota.tables import Recipe
from rota.units import ticks_per_second

__all__ = ["Epoch", "Reading"]


class Epoch(Choice):
    """What whole numbers count from.

    Attributes:
        UNIX: 1970-01-01 in UTC.
        UNKNOWN: An unknown zero: such a log has no dates and no hours of the day.
    """

    UNIX = "unix"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Reading(Recipe):
    """What a person says of a log; what is left out is found out, or known of the source.

    Attributes:
        user: Column with the user's id: whole numbers, text or dates.
        item: Column with the item's id, likewise.
        time: Column with the time: whole numbers since 1970, datetimes, or text in ISO 8601.
        unit: Unit of the clock, s, ms, us or ns. ``None`` takes the coarsest exact one for datetimes, and
            infers that of numbers from their magnitude.
        zone: Time zone of all users, whose wall clock models shall see. Datetimes without a zone are taken
            to show it already.
        zone_column: Column with the user's time zone at the event, instead.
        offset_column: Column with the user's minutes east of UTC at the event, instead.
        epoch: What whole numbers count from: unix or unknown.
        ties: What orders a user's events of one instant: rows or unordered; ``None`` is the order of rows.
        order: Column that orders them, whole numbers.
        on_error: What becomes of rows that cannot be read or have no time: stop or skip.

    Raises:
        InputError: One of them is not to be had.
    """

    user: str | None = None
    item: str | None = None
    time: str | None = None
    unit: str | None = None
    zone: str | None = None
    zone_column: str | None = None
    offset_column: str | None = None
    epoch: Epoch | str = Epoch.UNIX
    ties: Ties | str | None = None
    order: str | None = None
    on_error: OnError | str = OnError.STOP

    def __post_init__(self) -> None:
        object.__setattr__(self, "epoch", Epoch.parse(self.epoch))
        object.__setattr__(self, "on_error", OnError.parse(self.on_error))
        if self.ties is not None:
            object.__setattr__(self, "ties", Ties.parse(self.ties))
        if self.unit is not None:
            ticks_per_second(self.unit)  # refuses what is no unit
        if self.zone is not None:
            check_zone(self.zone)

    @property
    def columns(self) -> Wanted:
        """Names of the columns, as they were given."""
        return Wanted(self.user, self.item, self.time, self.order, self.zone_column, self.offset_column)
