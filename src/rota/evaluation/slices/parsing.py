"""Slices by their names: "gap" is the class of gap.py."""

from rota.evaluation.slices.base import Slice
from rota.rooms import find


def parse_slice(name: str) -> Slice:
    """The slice of a name, with its usual bins.

    Args:
        name: A file of ``rota.evaluation.slices``: ``"gap"``, ``"hour"``, ``"history"``, ``"repeat"``.

    Raises:
        InputError: There is no such slice; the message lists those there are.
    """
    return find("evaluation.slices", name, Slice)()  # type: ignore[type-abstract]
