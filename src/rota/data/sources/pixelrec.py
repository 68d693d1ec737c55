"""PixelRec: events of people with videos, which its paper knows by their cover images."""

from dataclasses import dataclass
from typing import ClassVar

import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from rota.choice import Choice
from rota.data.columns import Columns
from rota.data.downloads.fetching import fetch
from rota.data.downloads.remote import Remote
from rota.data.formats.text import Layout
from rota.data.sources._published import read_published, typed
from rota.data.sources.base import Source
from rota.units import Unit

__all__ = ["PixelRec", "PixelSize"]

_NAMES = ["item_id", "user_id", "timestamp"]
_FOLDER = "https://drive.google.com/drive/folders/1vR1lgQUZCy1cuhzPkM2q7AsdYRP43feQ"


class PixelSize(Choice):
    """How many people: a sample, or all.

    Attributes:
        PIXEL_200K: 200 thousand.
        PIXEL_1M: One million.
        PIXEL_8M: Eight million.
        ALL: Thirty million, with 200 million events.
    """

    PIXEL_200K = "Pixel200K"
    PIXEL_1M = "Pixel1M"
    PIXEL_8M = "Pixel8M"
    ALL = "PixelRec"


@dataclass(frozen=True)
class PixelRec(Source):
    """Events of PixelRec, times in whole seconds.

    The files lie in a shared folder that wants a browser, so they are brought to the cache by hand. The
    publisher gives no checksums.

    Attributes:
        size: Which of the four data sets.
    """

    name: ClassVar[str] = "pixelrec"
    url: ClassVar[str] = "https://github.com/westlake-repl/PixelRec"
    licence: ClassVar[str] = (
        "Westlake Representation Learning Lab: non-commercial research and education; no copying, no "
        "redistribution"
    )
    citation: ClassVar[str] = (
        "Cheng, Pan, Zhang, Ni, Sun and Yuan, An Image Dataset for Benchmarking Recommender Systems with Raw "
        "Pixels, arXiv:2309.06789, 2023"
    )
    columns: ClassVar[Columns] = Columns(user="user_id", item="item_id", time="timestamp")
    unit: ClassVar[Unit | None] = "s"
    zone: ClassVar[str | None] = None
    size: PixelSize = PixelSize.PIXEL_200K

    @property
    def file(self) -> Remote:
        """The CSV file of that size."""
        begins = ",".join(_NAMES).encode()
        return Remote(f"pixelrec/{self.size}.csv", _FOLDER, url=None, checksum=None, begins=begins)

    def table(self, connection: Backend) -> ir.Table:
        """``item_id`` and ``user_id`` (text, such as ``i72138`` and ``u209296``), ``timestamp``, ``ROW``.

        Raises:
            InputError: The file is not there, or is not as published.
        """
        path, _ = fetch(self.file)
        return typed(read_published(connection, path, Layout(","), _NAMES), path, {"timestamp": "int64"})
