"""Filter: keep part of a log, before it is split."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from rota.data.log import Log


@dataclass(frozen=True)
class Filter(ABC):
    """Which part of a log to keep. Its fields are its recipe."""

    @abstractmethod
    def apply(self, log: Log) -> Log:
        """The part that is kept, with users and items numbered again.

        Raises:
            InputError: Nothing would remain.
        """
