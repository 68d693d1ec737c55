"""`read_log`: any table of (user, item, time) to a log in memory."""

from collections.abc import Callable
from os import PathLike

import numpy as np

from rota.data.about import About, Step
from rota.data.arranging import Arranged, arrange
from rota.data.checks import check_span
from rota.data.database import database
from rota.data.events import Events, Ties
from rota.data.formats.base import OnError
from rota.data.frames import ArrowStream
from rota.data.localtimes import has_local
from rota.data.log import Log
from rota.data.opening import open_events
from rota.data.options import Epoch, Reading
from rota.types import Int64Array

__all__ = ["read_log"]


def read_log(
    source: str | PathLike[str] | ArrowStream,
    *,
    user: str | None = None,
    item: str | None = None,
    time: str | None = None,
    unit: str | None = None,
    zone: str | None = None,
    zone_column: str | None = None,
    offset_column: str | None = None,
    epoch: Epoch | str = Epoch.UNIX,
    ties: Ties | str | None = None,
    order: str | None = None,
    on_error: OnError | str = OnError.STOP,
) -> Log:
    """Read a log into memory and put it in order. For logs that are filtered or large, see `prepare`.

    Args:
        source: A file, a folder or a pattern of files (.parquet, .csv, .tsv, either of these with .gz,
            .inter); a DataFrame of pandas, polars or pyarrow; a table of a database by URL, such as
            ``"duckdb://log.duckdb#events"``; or the name of a known source such as ``"flights"``, which
            knows its columns.
        user: Column with the user's id: whole numbers, text or dates.
        item: Column with the item's id, likewise.
        time: Column with the time: whole numbers since 1970, datetimes, or text in ISO 8601.
        unit: Unit of the clock, s, ms, us or ns. ``None`` takes the coarsest exact one for datetimes, and
            infers that of numbers from their magnitude.
        zone: Time zone, for instance ``"America/New_York"``, whose wall clock models shall see.
            Datetimes without a zone are taken to show it already.
        zone_column: Column with the user's time zone at the event, instead.
        offset_column: Column with the user's minutes east of UTC at the event, instead.
        epoch: ``"unknown"`` where numbers count from an unknown zero: such a log has no dates and no hours.
        ties: ``"unordered"`` where events of one instant are a basket; by default the rows' order counts.
        order: Column that orders a user's events of one instant, whole numbers.
        on_error: ``"skip"`` leaves out rows that cannot be read, and counts them.

    Raises:
        InputError: Something cannot be used: the message names what, where, and the remedy.
    """
    reading = Reading(user, item, time, unit, zone, zone_column, offset_column, epoch, ties, order, on_error)
    return read_events_into_log(source, reading)


def read_events_into_log(
    source: str | PathLike[str] | ArrowStream,
    reading: Reading,
    check: Callable[[Events], None] = check_span,
) -> Log:
    """`read_log` with what is said of the log in one piece.

    Args:
        source: As there.
        reading: How to understand it.
        check: Raises where the clock makes no sense.
    """
    with database() as connection:
        events = open_events(connection, source, reading)
        check(events)
        return to_log(events, arrange(events))


def to_log(events: Events, arranged: Arranged) -> Log:
    """Collect a log that is in order."""
    pieces = list(arranged.pieces)
    local = _joined([piece.local for piece in pieces if piece.local is not None])
    items = _joined([piece.items for piece in pieces])
    step = Step("read", len(items), len(arranged.user_ids), len(arranged.item_ids))
    return Log(
        items, _joined([piece.times for piece in pieces]), arranged.offsets,
        local if has_local(events) else None, arranged.user_ids, arranged.item_ids, about(events, (step,)),
    )  # fmt: skip


def _joined(pieces: list[Int64Array]) -> Int64Array:
    return np.concatenate(pieces) if pieces else np.empty(0, np.int64)


def about(events: Events, steps: tuple[Step, ...]) -> About:
    """What a log was made of."""
    by_row = any(name in events.table.columns for name in ("zone", "offset"))
    return About(
        events.name, events.unit, events.unit_stated, events.absolute, events.known_epoch,
        "by row" if by_row else events.zone, events.ties, events.rows, events.dropped, events.skipped, steps,
    )  # fmt: skip
