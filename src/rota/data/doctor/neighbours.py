"""Neighbours: what lies between one event of a user and the next, in one sort of the log."""

from dataclasses import dataclass
from itertools import zip_longest

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from rota.data.doctor.aggregates import columns_of
from rota.data.doctor.counts import Counts, count_values
from rota.types import Int64Array

__all__ = ["Neighbours", "count_neighbours"]

PART = 4_000_000  # events that fit the memory of a laptop's database several times over
_MOST_DIGITS = 19  # of an int64


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Pairs of neighbouring events of one user, in the order of their times.

    Attributes:
        gaps: Times between them, where there is any, in ticks, rounded down to two digits.
        ties: Pairs of one instant.
        repeated: Of these, pairs of one item.
        backward: Pairs, not of one instant, whose rows stand in the other order.
    """

    gaps: Counts
    ties: int
    repeated: int
    backward: int


def count_neighbours(table: ir.Table, people: pa.Table, part: int = PART) -> Neighbours:
    """Look at every event and the one before it.

    Within an instant they are put in the order of items, so that equal items are neighbours. Users are taken
    in parts, because a database keeps all rows of such a look in memory.

    Args:
        table: As in `Events`; no two of its times are further apart than int64 can say.
        people: Columns ``user`` and ``events``, a row for each user, in the database's order of them.
        part: Events of a part; a user's are not divided.
    """
    ends = np.cumsum(people["events"].to_numpy())
    starts = np.unique(np.searchsorted(ends, np.arange(0, ends[-1], part), side="right"))
    firsts = [people["user"][int(row)].as_py() for row in starts]
    found = [_one_part(table, first, after) for first, after in zip_longest(firsts, firsts[1:])]
    joined = {name: np.concatenate([each[name] for each in found]) for name in found[0]}
    tied = joined["gap"] == 0
    return Neighbours(
        count_values(joined["gap"][~tied], joined["pairs"][~tied]),
        ties=int(joined["pairs"][tied].sum()),
        repeated=int(joined["repeated"][tied].sum()),
        backward=int(joined["backward"][~tied].sum()),
    )


def _one_part(table: ir.Table, first: object, after: object | None) -> dict[str, Int64Array]:
    """Pairs by gap, of the users from one up to another, who is not among them."""
    table = table.filter(table.user >= first)
    table = table if after is None else table.filter(table.user < after)
    order = ibis.window(group_by="user", order_by=["time", "item", "row"])
    pairs = table.select(
        gap=table.time - table.time.lag().over(order),
        repeats=(table.item == table.item.lag().over(order)),
        falls=(table.row < table.row.lag().over(order)),
    )
    pairs = pairs.filter(pairs.gap.notnull())  # the first of a user has none before
    pairs = pairs.mutate(gap=_two_digits(pairs.gap))
    return columns_of(
        pairs.group_by("gap").agg(
            pairs=pairs.count(), repeated=pairs.repeats.sum(), backward=pairs.falls.sum()
        )
    )


def _two_digits(value: ir.IntegerValue) -> ir.IntegerValue:
    """Rounded down to its first two digits: some hundreds of groups, whatever the times are."""
    sizes = [10**digits for digits in range(2, _MOST_DIGITS)]
    steps = [(value < size, value - value % max(size // 100, 1)) for size in sizes]
    return ibis.cases(*steps, else_=value - value % (10 ** (_MOST_DIGITS - 2)))
