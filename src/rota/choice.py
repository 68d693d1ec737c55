"""Choice: a switch of a few named positions, which people write as a word."""

import re
from enum import StrEnum
from typing import TypeVar

from rota.errors import InputError

C = TypeVar("C", bound="Choice")


class Choice(StrEnum):
    """Base of switches; a position equals the word that people write for it."""

    @classmethod
    def parse(cls: type[C], name: str) -> C:
        """Position of a word.

        Raises:
            InputError: There is no such position; the message lists those there are.
        """
        if name not in set(cls):
            label = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()
            raise InputError(f"{label} {name!r}: expected one of {', '.join(cls)}")
        return cls(name)
