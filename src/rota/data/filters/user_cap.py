"""UserCap: no user with more than so many events."""

from dataclasses import dataclass

import ibis

from rota.choice import Choice
from rota.data.events import Events, Ties
from rota.data.filters._enough import require_count
from rota.data.filters.base import Filter

__all__ = ["Keep", "UserCap"]


class Keep(Choice):
    """Which of a user's events stay.

    Attributes:
        LAST: The latest.
        FIRST: The earliest.
    """

    LAST = "last"
    FIRST = "first"


@dataclass(frozen=True)
class UserCap(Filter):
    """Keep at most so many events of each user, in the order of time and, within an instant, of the rows.

    Where ties have no order, an instant stays or goes as a whole: those that fit from that end.

    Attributes:
        most: Events of a user that stay.
        keep: ``"last"`` or ``"first"`` of them.

    Raises:
        InputError: ``most`` is under 1, or ``keep`` is another word.
    """

    most: int
    keep: Keep | str = Keep.LAST

    def __post_init__(self) -> None:
        require_count("most", self.most)
        object.__setattr__(self, "keep", Keep.parse(self.keep))

    def apply(self, events: Events) -> Events:
        """Those events."""
        table = events.table
        unordered = events.ties == Ties.UNORDERED
        order = [table.time] if unordered else [table.time, table.row]
        if self.keep == Keep.LAST:
            order = [column.desc() for column in order]
        if unordered:
            before = ibis.rank().over(group_by="user", order_by=order)  # events of nearer instants
            basket = table.count().over(group_by=["user", "time"])
            return events.having(table.filter(before + basket <= self.most))
        place = ibis.row_number().over(group_by="user", order_by=order)  # from 0
        return events.having(table.filter(place < self.most))
