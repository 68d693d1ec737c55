"""A small town of daily routines, and who its users are, in plain Python: what tests compare with."""

from dataclasses import dataclass
from itertools import groupby
from random import Random

HOUR, DAY = 3600, 86_400
MONDAY = 1_704_067_200  # 2024-01-01 in UTC


@dataclass(frozen=True)
class Event:
    """A row of a log."""

    user: str
    item: int
    when: int


def town(users: int = 30, days: int = 8) -> list[Event]:
    """Rows in no order: habits at 8, 13 and 20 o'clock, ties, and two visitors with too few events."""
    random = Random(0)
    rows = []
    for user in range(users):
        name, habits = f"u{user * 7 % users}", random.sample(range(100, 125), 3)
        for day in range(days):
            for habit, hour in zip(habits, (8, 13, 20), strict=True):
                if random.random() < 0.7:
                    item = habit if random.random() < 0.85 else random.randrange(100, 125)
                    rows.append(
                        Event(name, item, MONDAY + day * DAY + hour * HOUR + random.randrange(-900, 900))
                    )
        if user % 5 == 0:  # at the same second as the last: the order of the rows decides
            rows.append(Event(name, 100 + user % 25, rows[-1].when))
    rows += [Event("visitor", 999, MONDAY + hour * HOUR) for hour in range(4)]
    rows += [Event("passer-by", 100, MONDAY + DAY)]
    random.shuffle(rows)
    return rows


def columns(rows: list[Event]) -> dict[str, list[str] | list[int]]:
    """The same as columns."""
    return {
        "user": [row.user for row in rows],
        "item": [row.item for row in rows],
        "when": [row.when for row in rows],
    }


def by_user(rows: list[Event], least: int = 5) -> dict[str, list[int]]:
    """Rows of each user with enough events, oldest first: by time, then by row."""
    order = sorted(range(len(rows)), key=lambda row: (rows[row].user, rows[row].when, row))
    groups = {user: list(group) for user, group in groupby(order, key=lambda row: rows[row].user)}
    return {user: group for user, group in groups.items() if len(group) >= least}
