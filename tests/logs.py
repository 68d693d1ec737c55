"""Logs made by hand or at random, for tests that need no file."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from rota.data.about import About
from rota.data.events import Ties
from rota.data.log import Log
from rota.histories import Spans
from rota.units import Unit

Row = tuple[str | int, str | int, int]


def log_of(
    rows: Sequence[Row],
    ties: Ties = Ties.ROWS,
    *,
    unit: Unit = "s",
    zone: str | None = None,
    absolute: bool = True,
    known_epoch: bool = True,
    local: Sequence[int] | None = None,
) -> Log:
    """Log of (user, item, time) rows; ties in the order given, or by item where they have no order."""
    users, items = sorted({row[0] for row in rows}), sorted({row[1] for row in rows})  # type: ignore[type-var]

    def key(place: int) -> tuple[object, ...]:
        user, item, time = rows[place]
        return (user, time, item if ties == Ties.UNORDERED else place)

    order = sorted(range(len(rows)), key=key)  # type: ignore[arg-type]
    counts = [sum(row[0] == user for row in rows) for user in users]
    return Log(
        items=np.array([items.index(rows[at][1]) for at in order], np.int64),
        times=np.array([rows[at][2] for at in order], np.int64),
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        local=None if local is None else np.array([local[at] for at in order], np.int64),
        user_ids=pa.array(users),
        item_ids=pa.array(items),
        about=About(
            "by hand", unit, ties=ties, zone=zone, absolute=absolute, known_epoch=known_epoch, rows=len(rows)
        ),
    )


def random_rows(
    seed: int, users: int = 8, most: int = 14, instants: int = 10, step: int = 1, start: int = 0
) -> list[Row]:
    """Rows of users with up to ``most`` events at few instants, so that there are many ties."""
    rng = np.random.default_rng(seed)
    return [
        (f"u{user}", f"i{rng.integers(9)}", start + step * int(rng.integers(instants)))
        for user in range(users)
        for _ in range(rng.integers(1, most + 1))
    ]


def shown(log: Log, spans: Spans) -> list[tuple[str, str]]:
    """History and positives of each question, as the items' names."""
    names = np.array(log.item_ids.to_pylist())[log.items]
    return [
        (" ".join(names[start:stop]), " ".join(names[stop:end]))
        for _, start, stop, end in zip(*spans, strict=True)
    ]
