"""Who is in a room: contracts run over this, so that a new file is tested without editing a list."""

from typing import TypeVar

from rota.errors import InputError
from rota.rooms import find, names

Kind = TypeVar("Kind")


def roll_call(room: str, kind: type[Kind]) -> dict[str, type[Kind]]:
    """Every file of a room that defines a member of a kind, with its class."""
    present: dict[str, type[Kind]] = {}
    for name in names(room):
        try:
            present[name] = find(room, name, kind)
        except InputError:  # a helper's file
            continue
    return present
