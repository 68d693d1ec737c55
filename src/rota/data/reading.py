"""`read_log`: any table of (user, item, time) to a log."""

from os import PathLike
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import pyarrow as pa

from rota.data.checks import check_span
from rota.data.columns import Columns, Wanted, choose_columns
from rota.data.files import read_file, suffix_of
from rota.data.frames import ArrowStream, frame_name, read_frame
from rota.data.instants import read_instants
from rota.data.log import Log
from rota.data.ordering import event_order
from rota.data.place import Place
from rota.data.sources.base import Source
from rota.data.views import without_views
from rota.data.vocabulary import Coded, encode_ids, settle
from rota.data.zones import check_zone, wall_clock
from rota.errors import InputError
from rota.rooms import find
from rota.units import Unit, ticks_per_second

__all__ = ["read_log"]


class _Opened(NamedTuple):
    table: pa.Table
    columns: Columns
    where: str  # in messages
    name: str
    unit: Unit | None
    zone: str | None
    untyped: bool = False  # a text file: ids that look like numbers are numbers


def read_log(
    source: str | PathLike[str] | ArrowStream,
    *,
    user: str | None = None,
    item: str | None = None,
    time: str | None = None,
    unit: str | None = None,
    zone: str | None = None,
) -> Log:
    """Read a log and put it in order.

    Args:
        source: A file (.parquet, .csv, .tsv, or either of these with .gz), a DataFrame of pandas, polars or
            pyarrow, or the name of a known source such as ``"flights"``, which knows its columns.
        user: Column with the user's id: whole numbers, text or dates.
        item: Column with the item's id, likewise.
        time: Column with the time: whole numbers since 1970, datetimes, or text in ISO 8601.
        unit: Unit of the clock, s, ms, us or ns. ``None`` takes the coarsest exact one for datetimes, and
            infers that of numbers from their magnitude.
        zone: Time zone, for instance ``"America/New_York"``, whose wall clock `Log.times` shall show.
            Datetimes without a zone are taken to show it already.

    Raises:
        InputError: Something cannot be used: the message names what, where, and the remedy.
    """
    if unit is not None:
        ticks_per_second(unit)  # refuses what is no unit
    if zone is not None:
        check_zone(zone)
    return _to_log(_open(source, Wanted(user, item, time), cast(Unit | None, unit), zone))


def _open(
    source: str | PathLike[str] | ArrowStream, wanted: Wanted, unit: Unit | None, zone: str | None
) -> _Opened:
    if isinstance(source, str | PathLike):
        path = Path(source)
        if suffix_of(path) is None and not path.exists():
            return _open_source(str(source), wanted, unit, zone)
        table, columns = read_file(path, wanted)
        return _Opened(table, columns, str(path), path.name, unit, zone, suffix_of(path) != ".parquet")
    if isinstance(source, ArrowStream):
        table, name = read_frame(source), frame_name(source)
        columns = choose_columns(wanted, table.column_names, name)
        return _Opened(table.select(columns), columns, name, name, unit, zone)
    raise InputError(
        f"a log of type {type(source).__name__}: expected a path, the name of a source, or a "
        "DataFrame of pandas, polars or pyarrow"
    )


def _open_source(name: str, wanted: Wanted, unit: Unit | None, zone: str | None) -> _Opened:
    try:
        known = find("data.sources", name, Source)()  # type: ignore[type-abstract]
    except InputError as error:
        raise InputError(f"log {name!r}: no such file; as a source: {error}") from error
    table = known.table()
    columns = choose_columns(wanted.or_else(known.columns), table.column_names, name)
    return _Opened(table.select(columns), columns, name, name, unit or known.unit, zone or known.zone)


def _to_log(opened: _Opened) -> Log:
    table, columns, where = without_views(opened.table), opened.columns, opened.where
    users = encode_ids(table[columns.user], f"{where}: column {columns.user!r}", untyped=opened.untyped)
    items = encode_ids(table[columns.item], f"{where}: column {columns.item!r}", untyped=opened.untyped)
    rows = np.flatnonzero((users.codes >= 0) & (items.codes >= 0))
    if not len(rows):
        raise InputError(
            f"{where} is empty: none of its {len(table)} rows has both a user and an item: "
            "check the file and the columns"
        )
    times = table[columns.time]
    if len(rows) < len(table):
        times = times.take(pa.array(rows))
    place = Place(where, columns.time, rows)
    instants = read_instants(times, opened.unit, place)
    check_span(instants, place)
    clock, zone = wall_clock(instants, opened.zone, str(place))
    users = settle(Coded(users.codes[rows], users.values))
    items = settle(Coded(items.codes[rows], items.values))
    order = event_order(users.codes, instants.ticks)  # by instant, also where the wall clock steps back
    return Log(
        users=users.codes[order], items=items.codes[order], times=clock[order], user_ids=users.values,
        item_ids=items.values, unit=instants.unit, unit_stated=instants.stated, zone=zone, rows=len(table),
        dropped=len(table) - len(rows), name=opened.name,
    )  # fmt: skip
