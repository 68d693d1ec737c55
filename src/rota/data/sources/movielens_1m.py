"""MovieLens 1M: ratings of films by people who joined MovieLens in 2000."""

from dataclasses import dataclass
from typing import ClassVar

import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from rota.data.columns import Columns
from rota.data.downloads.fetching import fetch
from rota.data.downloads.remote import Remote
from rota.data.downloads.unpacking import unpacked
from rota.data.formats.text import Layout
from rota.data.sources._movielens import CITATION, TYPES, ZIP
from rota.data.sources._published import read_published, typed
from rota.data.sources.base import Source
from rota.units import Unit

__all__ = ["MovieLens1M"]


@dataclass(frozen=True)
class MovieLens1M(Source):
    """1,000,209 ratings, 6,040 people, 3,706 films rated; times in whole seconds.

    ``ratings.dat`` has no line of names: ``UserID::MovieID::Rating::Timestamp``; here the names are those of
    the later data sets. People rated many films in one sitting, several in one second.
    """

    name: ClassVar[str] = "movielens_1m"
    url: ClassVar[str] = "https://grouplens.org/datasets/movielens/1m/"
    licence: ClassVar[str] = (
        "GroupLens usage licence: research, with acknowledgement; no redistribution and no commercial use "
        "without permission"
    )
    citation: ClassVar[str] = CITATION
    columns: ClassVar[Columns] = Columns(user="userId", item="movieId", time="timestamp")
    unit: ClassVar[Unit | None] = "s"
    zone: ClassVar[str | None] = None

    @property
    def file(self) -> Remote:
        """The archive; its MD5 is published as ``ml-1m.zip.md5``."""
        return Remote(
            name="movielens_1m/ml-1m.zip",
            page=self.url,
            url="https://files.grouplens.org/datasets/movielens/ml-1m.zip",
            checksum="md5:c4d9eecfca2ab87c1945afe126590906",
            begins=ZIP,
        )

    def table(self, connection: Backend) -> ir.Table:
        """``userId``, ``movieId``, ``timestamp`` (int64), ``rating`` (1 to 5) and ``ROW``.

        Raises:
            InputError: The archive cannot be had, or is not as published.
        """
        path = unpacked(*fetch(self.file), "ratings.dat")
        layout = Layout("::", quote="", encoding="latin-1", titled=False)
        return typed(read_published(connection, path, layout, list(TYPES)), path, TYPES)
