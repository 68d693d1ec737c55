"""Source: a log that can be had by name, because its columns, unit and zone are known."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from rota.data.columns import Columns
from rota.units import Unit


@dataclass(frozen=True)
class Source(ABC):
    """A public log. A file of this room defines one; its name is the file's.

    Attributes:
        name: Name of the file that defines it.
        licence: Licence of the data.
        citation: Where the data come from.
        columns: Columns of its table that make the log.
        unit: Unit of its clock; ``None`` where the time column's type tells.
        zone: Time zone that its times show or shall show, if any.
    """

    name: ClassVar[str]
    licence: ClassVar[str]
    citation: ClassVar[str]
    columns: ClassVar[Columns]
    unit: ClassVar[Unit | None]
    zone: ClassVar[str | None]

    @abstractmethod
    def table(self) -> pa.Table:
        """All rows, in the order in which they are published.

        Raises:
            InputError: The data are not installed or damaged; the message says how to install them.
        """
