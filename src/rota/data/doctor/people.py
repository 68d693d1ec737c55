"""People: what is counted of each user, in one pass."""

from dataclasses import dataclass

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from rota.data.doctor.aggregates import one_row
from rota.data.doctor.counts import Counts, count_values

__all__ = ["ENOUGH", "Habits", "count_people", "habits_of", "tied_users"]

ENOUGH = 3  # events: of fewer, little can be said
_DAY = 86_400


@dataclass(frozen=True, eq=False)
class Habits:
    """Users in numbers.

    Attributes:
        per_user: Users by number of events.
        busiest: Id of the user with most events; of equals, the first.
        lasting: Users with at least three events.
        brief: Those of them whose events lie within 24 hours.
    """

    per_user: Counts
    busiest: str
    lasting: int
    brief: int


def count_people(table: ir.Table) -> pa.Table:
    """Columns user, events, first and last: a row for each user, in the database's order."""
    each = table.group_by("user").agg(events=table.count(), first=table.time.min(), last=table.time.max())
    return each.order_by("user").to_pyarrow()


def habits_of(people: pa.Table, second: int) -> Habits:
    """Numbers of what `count_people` gives.

    Args:
        people: A row for each user.
        second: Ticks in a second.
    """
    events, first, last = (people[name].to_numpy() for name in ("events", "first", "last"))
    enough = events >= ENOUGH
    return Habits(
        count_values(events, np.ones_like(events)),
        str(people["user"][int(events.argmax())].as_py()),
        int(np.count_nonzero(enough)),
        int(np.count_nonzero(enough & (last - first <= _DAY * second))),
    )


def tied_users(table: ir.Table, people: pa.Table) -> int:
    """Users whose last instant holds several items: which of them came last, no time says.

    Args:
        table: As in `Events`.
        people: What `count_people` gives of it.
    """
    ends = ibis.memtable(people.select(["user", "last"]).rename_columns(["who", "at"]))
    at_end = table.join(ends, [table.user == ends.who, table.time == ends.at]).select("user", "item")
    each = at_end.group_by("user").agg(items=at_end.item.nunique())
    return one_row(each.agg(tied=(each.items > 1).sum()))["tied"]
