"""Amazon Books: reviews of books from 1996 to 2023, as ratings alone."""

from dataclasses import dataclass
from typing import ClassVar

import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from rota.data.columns import Columns
from rota.data.downloads.fetching import fetch
from rota.data.downloads.remote import Remote
from rota.data.formats.text import Layout
from rota.data.sources._published import read_published, typed
from rota.data.sources.base import Source
from rota.units import Unit

__all__ = ["AmazonBooks"]

_NAMES = ["user_id", "parent_asin", "rating", "timestamp"]


@dataclass(frozen=True)
class AmazonBooks(Source):
    """Amazon Reviews 2023, category Books, all users and items ("0-core"), times in milliseconds.

    Of several reviews of one book by one person the publisher keeps the earliest. The publisher gives no
    checksum of this file.
    """

    name: ClassVar[str] = "amazon_books"
    url: ClassVar[str] = "https://amazon-reviews-2023.github.io/data_processing/0core.html"
    licence: ClassVar[str] = (
        "none stated by the publisher (McAuley Lab, UC San Diego): research, with citation"
    )
    citation: ClassVar[str] = (
        "Hou, Li, He, Yan, Chen and McAuley, Bridging Language and Items for Retrieval and Recommendation, "
        "arXiv:2403.03952, 2024"
    )
    columns: ClassVar[Columns] = Columns(user="user_id", item="parent_asin", time="timestamp")
    unit: ClassVar[Unit | None] = "ms"
    zone: ClassVar[str | None] = None

    @property
    def file(self) -> Remote:
        """The gzipped CSV file of ratings."""
        return Remote(
            name="amazon_books/Books.csv.gz",
            page=self.url,
            url="https://mcauleylab.ucsd.edu/public_datasets/data/amazon_2023/benchmark/0core/rating_only/"
            "Books.csv.gz",
            checksum=None,
            begins=b"\x1f\x8b",
        )

    def table(self, connection: Backend) -> ir.Table:
        """``user_id``, ``parent_asin`` (text: an ISBN may begin with 0), ``rating``, ``timestamp``, ``ROW``.

        Raises:
            InputError: The file cannot be had, or is not as published.
        """
        path, _ = fetch(self.file)
        raw = read_published(connection, path, Layout(","), _NAMES)
        return typed(raw, path, {"rating": "float64", "timestamp": "int64"})
