"""Source: a log that can be had by name, because its columns, unit and zone are known."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import ibis.expr.types as ir
from ibis.backends.duckdb import Backend

from rota.data.columns import Columns
from rota.data.downloads.fetching import fetch, quiet
from rota.data.downloads.remote import Remote
from rota.data.downloads.transfer import Advance
from rota.units import Unit

__all__ = ["Source"]


@dataclass(frozen=True)
class Source(ABC):
    """A public log. A file of this room defines one; its name is the file's.

    Attributes:
        name: Name of the file that defines it.
        url: Page on which it is published.
        licence: Licence of the data.
        citation: Where the data come from.
        columns: Columns of its table that make the log.
        unit: Unit of its clock; ``None`` where the time column's type tells.
        zone: Time zone that its times show or shall show, if any.
    """

    name: ClassVar[str]
    url: ClassVar[str]
    licence: ClassVar[str]
    citation: ClassVar[str]
    columns: ClassVar[Columns]
    unit: ClassVar[Unit | None]
    zone: ClassVar[str | None]

    @property
    @abstractmethod
    def file(self) -> Remote | None:
        """File that it is read from, with address and checksum; ``None`` where a package brings it."""

    @abstractmethod
    def table(self, connection: Backend) -> ir.Table:
        """All rows with the published columns, and ``ROW`` (`rota.data.raw`), their published order.

        A file that is not in the cache is downloaded first.

        Args:
            connection: Database in which they are laid down.

        Raises:
            InputError: The data cannot be had, or are not as published; the message says how to mend it.
        """

    def download(self, advance: Advance = quiet) -> None:
        """Bring its file to the cache and verify it, so that `table` finds it there.

        Args:
            advance: Told of the bytes that are there and of those expected, while they come.

        Raises:
            InputError: It cannot be had, or is not as published.
        """
        if self.file is not None:
            fetch(self.file, advance)
