"""Format: a kind of file that holds a log."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from ibis.backends.duckdb import Backend

from rota.choice import Choice
from rota.data.columns import Wanted
from rota.data.paths import Found
from rota.data.raw import Raw

__all__ = ["Format", "OnError"]


class OnError(Choice):
    """What becomes of a row that cannot be read.

    Attributes:
        STOP: The reading ends with an error that names it.
        SKIP: It is left out, and counted.
    """

    STOP = "stop"
    SKIP = "skip"


@dataclass(frozen=True)
class Format(ABC):
    """A kind of file. A file of this room defines one.

    Attributes:
        suffixes: What names of such files end in.
    """

    suffixes: ClassVar[tuple[str, ...]]

    @abstractmethod
    def open(self, connection: Backend, found: Found, wanted: Wanted, on_error: OnError) -> Raw:
        """Open files of this kind, which make one log, in their order.

        Raises:
            InputError: A file is damaged, they disagree, or a column is missing.
        """
