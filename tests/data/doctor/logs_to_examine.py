"""Logs for the doctor's tests: rows of (user, item, time), in memory."""

from collections.abc import Sequence
from typing import Any

import ibis
import pyarrow as pa

from rota.data.events import Events

T0 = 1_600_000_000 // 86_400 * 86_400  # a midnight in 2020
HOUR, DAY = 3600, 86_400

Row = tuple[str | int, str | int, int]


def events_of(rows: Sequence[Row], backend: Any = None, **changed: Any) -> Events:
    """Events in the order of the rows; ``zone`` or ``offset`` may be a list, by row."""
    columns: dict[str, Any] = {
        name: [row[k] for row in rows] for k, name in enumerate(("user", "item", "time"))
    }
    columns["time"] = pa.array(columns["time"], pa.int64())
    columns["row"] = pa.array(range(len(rows)), pa.int64())
    for name in ("zones", "offsets"):
        if name in changed:
            columns[name[:-1]] = changed.pop(name)
    table = (backend or ibis.duckdb.connect()).create_table("log", pa.table(columns))
    return Events(table, "log", "log.csv", changed.pop("unit", "s"), rows=len(rows), **changed)


def steady(users: int = 40, days: int = 30, shift: int = 0) -> list[Row]:
    """A log in good health: users who come twice a day, at odd seconds of waking hours, sorted by time."""
    rows: list[Row] = []
    for day in range(days):
        for user in range(users):
            for visit, hour in enumerate((9 + user % 5, 15 + (user + day) % 7)):
                second = (user * 37 + day * 101 + visit * 7) % 3600
                item = f"i{(user + 3 * day + visit) % 23}"
                rows.append((f"u{user:02d}", item, T0 + day * DAY + (hour + shift) * HOUR + second))
    return sorted(rows, key=lambda row: row[2])
