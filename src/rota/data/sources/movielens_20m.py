"""MovieLens 20M: ratings of films from 1995 to 2015."""

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

__all__ = ["MovieLens20M"]


@dataclass(frozen=True)
class MovieLens20M(Source):
    """20,000,263 ratings, 138,493 people, 26,744 films; times in whole seconds.

    Each person's rows are sorted by film and not by time: the order of the rows within one second says
    nothing of what came first.
    """

    name: ClassVar[str] = "movielens_20m"
    url: ClassVar[str] = "https://grouplens.org/datasets/movielens/20m/"
    licence: ClassVar[str] = (
        "GroupLens usage licence: research, with acknowledgement; redistribution under the same conditions; "
        "no commercial use without permission"
    )
    citation: ClassVar[str] = CITATION
    columns: ClassVar[Columns] = Columns(user="userId", item="movieId", time="timestamp")
    unit: ClassVar[Unit | None] = "s"
    zone: ClassVar[str | None] = None

    @property
    def file(self) -> Remote:
        """The archive; its MD5 is published as ``ml-20m.zip.md5``."""
        return Remote(
            name="movielens_20m/ml-20m.zip",
            page=self.url,
            url="https://files.grouplens.org/datasets/movielens/ml-20m.zip",
            checksum="md5:cd245b17a1ae2cc31bb14903e1204af3",
            begins=ZIP,
        )

    def table(self, connection: Backend) -> ir.Table:
        """``userId``, ``movieId``, ``timestamp`` (int64), ``rating`` (half stars, 0.5 to 5) and ``ROW``.

        Raises:
            InputError: The archive cannot be had, or is not as published.
        """
        path = unpacked(*fetch(self.file), "ratings.csv")
        return typed(read_published(connection, path, Layout(","), list(TYPES)), path, TYPES)
