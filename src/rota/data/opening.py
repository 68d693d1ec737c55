"""`open_events`: anything that holds a log, to events of one type a column."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import cast

import ibis
import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from rota.data import ids
from rota.data.database import explained
from rota.data.events import OFFSET, ZONE, Events, Ties
from rota.data.formats.base import OnError
from rota.data.localtimes import has_local
from rota.data.numbers import whole_numbers
from rota.data.options import Epoch, Reading
from rota.data.places import Place
from rota.data.raw import ROW, Raw
from rota.data.sourcing import open_raw
from rota.data.texttimes import unreadable
from rota.data.times import read_times
from rota.data.zones import check_reach, check_zone
from rota.errors import InputError
from rota.units import Unit

__all__ = ["open_events"]

_MINUTE = 60  # s


def open_events(
    connection: Backend, source: str | PathLike[str] | object, reading: Reading | None = None
) -> Events:
    """Open a log: files, a DataFrame, a table of a database by URL, or a source known by name.

    Nothing is put in order yet, and whether the clock makes sense is for the doctor to say.

    Args:
        connection: Database to compute in.
        source: What `rota.data.read_log` takes.
        reading: How to understand it.

    Raises:
        InputError: Something cannot be used: the message names what, where, and the remedy.
    """
    reading = reading or Reading()
    raw, known = open_raw(connection, source, reading.columns, OnError.parse(reading.on_error))
    unit = cast(Unit | None, reading.unit) or known.unit
    known_epoch = reading.epoch == Epoch.UNIX
    with explained(raw.where):
        opened = _typed(raw, unit, known_epoch, OnError.parse(reading.on_error))
    opened = replace(opened, ties=_ties(raw, reading.ties))
    by_row = reading.zone_column or reading.offset_column
    return _with_zone(opened, raw, reading.zone or (None if by_row else known.zone))


def _typed(raw: Raw, unit: Unit | None, known_epoch: bool, on_error: OnError) -> Events:
    columns = raw.columns
    user, item = (Place(raw.table, raw.where, column) for column in (columns.user, columns.item))
    for place in (user, item):
        ids.check_ids(place.values.type(), place)
    rows = int(raw.table.count().to_pyarrow().as_py())
    named = raw.table.filter(ids.present(user), ids.present(item))
    named, skipped = _with_times(named, raw, on_error)
    user, item, time = (replace(user, table=named, column=c) for c in columns[:3])
    times = read_times(time, raw.types)
    answers = _ask(
        named,
        user=ids.questions(user, raw.untyped),
        item=ids.questions(item, raw.untyped),
        time=times.questions(),
    )
    count = cast(int, answers["time"]["count"])
    if not count:
        raise InputError(
            f"{raw.where} is empty: none of its {rows} rows has both a user and an item: "
            "check the file and the columns"
        )
    instants = times.settle(unit, known_epoch, answers["time"])
    extra = {ZONE: _zones(named, raw), OFFSET: _offsets(named, raw)}
    table = named.select(
        user=ids.one_type(user, answers["user"]),
        item=ids.one_type(item, answers["item"]),
        time=instants.ticks,
        row=_order(named, raw),
        **{role: values for role, values in extra.items() if values is not None},
    )
    return Events(
        table, raw.name, raw.where, instants.unit, instants.stated, instants.absolute, known_epoch,
        instants.zone, rows=rows + raw.skipped, dropped=rows - count - skipped, skipped=raw.skipped + skipped,
    )  # fmt: skip


def _with_times(table: ir.Table, raw: Raw, on_error: OnError) -> tuple[ir.Table, int]:
    """Rows that have a time, and the number of those skipped."""
    place = Place(table, raw.where, raw.columns.time)
    missing = _count(table, place.values.isnull())
    if missing and on_error == OnError.STOP:
        row, _ = place.first(place.values.isnull())
        raise InputError(
            f"{row}: no time: correct or remove the row, or skip such rows, {missing} of them (on_error=, "
            "--on-error skip)"
        )
    timed = table.filter(place.values.notnull()) if missing else table
    if on_error == OnError.STOP or not place.values.type().is_string():
        return timed, missing
    bad = unreadable(replace(place, table=timed))
    return timed.filter(~bad), missing + _count(timed, bad)


def _count(table: ir.Table, condition: ir.BooleanValue) -> int:
    return int(table.filter(condition).count().to_pyarrow().as_py())


def _ask(table: ir.Table, **asked: Mapping[str, ir.Scalar]) -> Mapping[str, Mapping[str, object]]:
    """Answer all questions in one pass over the table."""
    flat = {f"{about}_{name}": ask for about, asks in asked.items() for name, ask in asks.items()}
    answers = table.aggregate(**flat).to_pyarrow().to_pylist()[0]
    return {about: {name: answers[f"{about}_{name}"] for name in asks} for about, asks in asked.items()}


def _ties(raw: Raw, ties: Ties | str | None) -> Ties:
    if raw.columns.order is not None:
        if ties is not None and Ties.parse(ties) != Ties.COLUMN:
            raise InputError(
                f"{raw.where}: ties {str(ties)!r} and an order column {raw.columns.order!r}: give one of them"
            )
        return Ties.COLUMN
    rule = Ties.ROWS if ties is None else Ties.parse(ties)
    if rule == Ties.COLUMN:
        raise InputError(f"{raw.where}: ties 'column': expected the column too (order=, --order)")
    if rule == Ties.ROWS and not raw.ordered:
        raise InputError(
            f"{raw.where}: rows of a database have no order: name the column that orders events of one "
            "instant (order=, --order), or declare them unordered (ties=, --ties unordered)"
        )
    return rule


def _with_zone(events: Events, raw: Raw, stated: str | None) -> Events:
    by_row = raw.columns.zone or raw.columns.offset
    zone = stated or (None if by_row else events.zone)
    if not events.known_epoch and (zone or by_row):
        raise InputError(
            f"{events.where} counts from an unknown zero: a zone means nothing for it: leave the zone out"
        )
    if by_row and stated:
        raise InputError(f"{events.where}: zone {stated!r} and a column {by_row!r} for it: give one of them")
    if by_row and not events.absolute:
        raise InputError(
            f"{events.where}: its times are readings of a wall clock already: leave the column {by_row!r} out"
        )
    if zone is not None:
        try:
            check_zone(zone)
        except InputError as error:
            raise InputError(f"{events.where}: {error}; or state one (zone=, --zone)") from error
    located = replace(events, zone=zone)
    if has_local(located):
        time = events.table.time
        (span,) = events.table.aggregate(least=time.min(), most=time.max()).to_pyarrow().to_pylist()
        check_reach(span["least"], span["most"], events.unit, events.where)
    return located


def _zones(table: ir.Table, raw: Raw) -> ir.StringValue | None:
    """The column of zones, each of them known."""
    if raw.columns.zone is None:
        return None
    place = Place(table, raw.where, raw.columns.zone)
    if not place.values.type().is_string():
        raise InputError(f"{place} is of type {place.values.type()}: expected names of time zones, as text")
    for value in place.values.as_table().distinct().to_pyarrow()[place.column].to_pylist():
        try:
            check_zone(value or "")
        except InputError as error:
            row, _ = place.first(place.values.isnull() if value is None else place.values == value)
            raise InputError(f"{row}: {'no zone: fill it in' if value is None else error}") from error
    return cast(ir.StringValue, place.values)


def _offsets(table: ir.Table, raw: Raw) -> ir.IntegerValue | None:
    """The column of minutes east of UTC, as seconds."""
    if raw.columns.offset is None:
        return None
    place = Place(table, raw.where, raw.columns.offset)
    minutes = whole_numbers(place, "minutes east of UTC, whole numbers from -1440 to 1440", most=24 * 60)
    return minutes * _MINUTE


def _order(table: ir.Table, raw: Raw) -> ir.IntegerValue:
    """Rows in the order of the column that says it, numbered anew so that no number occurs twice.

    Raises:
        InputError: Two events of a user at one instant have the same number, and their rows have no order.
    """
    if raw.columns.order is None:
        return cast(ir.IntegerValue, table[ROW])
    place = Place(table, raw.where, raw.columns.order)
    order = whole_numbers(place, "whole numbers")
    if not raw.ordered:
        user, time = table[raw.columns.user], table[raw.columns.time]
        alike = table.group_by(user=user, time=time, order=order).having(lambda t: t.count() > 1).agg()
        [twice] = [alike.limit(1).to_pyarrow().to_pylist()]
        if twice:
            raise InputError(
                f"{place} does not order the events: user {twice[0]['user']!r} has two at one instant with "
                f"{twice[0]['order']}: give a column that tells them apart, or declare them unordered (ties=)"
            )
    return cast(ir.IntegerValue, ibis.row_number().over(order_by=[order, table[ROW]]).cast("int64"))
