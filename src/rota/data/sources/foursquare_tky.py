"""Foursquare in Tokyo: check-ins, 2012 to 2013."""

from dataclasses import dataclass
from typing import ClassVar

import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from rota.data.columns import Columns
from rota.data.downloads.remote import Remote
from rota.data.sources._tsmc2014 import ARCHIVE, CITATION, COLUMNS, LICENCE, PAGE, check_ins
from rota.data.sources.base import Source
from rota.units import Unit

__all__ = ["FoursquareTokyo"]


@dataclass(frozen=True)
class FoursquareTokyo(Source):
    """573,703 check-ins of 2,293 people in Tokyo; times in UTC, to the second, with the local offset.

    The publisher gives no checksum of the archive.
    """

    name: ClassVar[str] = "foursquare_tky"
    url: ClassVar[str] = PAGE
    licence: ClassVar[str] = LICENCE
    citation: ClassVar[str] = CITATION
    columns: ClassVar[Columns] = COLUMNS
    unit: ClassVar[Unit | None] = "s"
    zone: ClassVar[str | None] = None  # each row has its own offset

    @property
    def file(self) -> Remote:
        """The archive of both cities."""
        return ARCHIVE

    def table(self, connection: Backend) -> ir.Table:
        """``user_id``, ``venue_id``, category, place, ``offset_minutes``, ``utc_time`` (seconds) and ``ROW``.

        Raises:
            InputError: The archive cannot be had, or is not as published.
        """
        return check_ins(connection, "dataset_TSMC2014_TKY.txt")
