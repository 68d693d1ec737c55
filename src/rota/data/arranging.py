"""Events in the one order that there is: by user, then time, then what the rule of ties says.

Times tie often (half of the neighbours in a log of ratings), and a sort that is not stable then decides by
chance which event is last, so which is predicted. Sorting happens on int64: a float clock reorders too.
"""

from collections.abc import Iterator
from typing import NamedTuple

import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from rota.data.database import explained
from rota.data.events import OFFSET, ZONE, Events, Ties
from rota.data.localtimes import has_local, local_times
from rota.data.vocabulary import Vocabulary, as_ids
from rota.types import Int64Array

__all__ = []

_ROWS = 2**18  # at a time


class Piece(NamedTuple):
    """Some rows, in order.

    Attributes:
        items: Item codes, shape ``(rows,)``.
        times: Ticks, shape ``(rows,)``.
        local: Wall clock, shape ``(rows,)``; ``None`` where it is not known beside the times.
    """

    items: Int64Array
    times: Int64Array
    local: Int64Array | None


class Arranged(NamedTuple):
    """A log in order, streamed.

    Attributes:
        user_ids: Users by code.
        item_ids: Items by code.
        offsets: User ``u`` owns rows ``offsets[u]`` up to ``offsets[u + 1]``; shape ``(users + 1,)``.
        pieces: Rows in order; to be read once.
    """

    user_ids: pa.Array
    item_ids: pa.Array
    offsets: Int64Array
    pieces: Iterator[Piece]


def arrange(events: Events) -> Arranged:
    """Code and sort a log; the database sorts, on the disk where the memory is too small."""
    table = events.table
    counts = table.group_by("user").agg(events=table.count()).order_by("user").to_pyarrow()
    offsets = np.concatenate([[0], np.cumsum(counts["events"].to_numpy())]).astype(np.int64)
    items = Vocabulary.of(table.item)
    pieces = _pieces(events, items, _sorted(events, items))
    return Arranged(as_ids(counts["user"]), items.ids, offsets, pieces)


def _sorted(events: Events, items: Vocabulary) -> ir.Table:
    """Sorted by the users' own ids: their codes are in the order of the values, so nothing need be joined."""
    table = items.join_codes(events.table)
    extra = [name for name in (ZONE, OFFSET) if name in table.columns]
    last = ["item", *extra] if events.ties == Ties.UNORDERED else ["row"]
    return table.order_by("user", "time", *last).select(items.column, "time", *extra)


def _pieces(events: Events, items: Vocabulary, rows: ir.Table) -> Iterator[Piece]:
    local = has_local(events)
    with explained(events.where), rows.to_pyarrow_batches(chunk_size=_ROWS) as batches:
        for batch in batches:
            yield Piece(
                items.codes(batch[items.column]),
                batch["time"].to_numpy(),
                local_times(batch, events) if local else None,
            )
