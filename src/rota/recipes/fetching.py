"""Fetching: the file of a source known by name, with somebody watching; whatever opens it then finds it."""

from collections.abc import Callable

from rota.data.sources.base import Source
from rota.rooms import find, names

__all__: list[str] = []

_ROOM = "data.sources"


def fetch_known(source: str, tell: Callable[[str, int, int], None]) -> None:
    """Download the file of a source known by name, if that is what is meant and it is not there yet.

    Args:
        source: What a person gave as a log.
        tell: Told what is done, bytes that came, and bytes in all (0 where that is not known).

    Raises:
        InputError: It cannot be had; the message says where to put it by hand.
    """
    if source in names(_ROOM):
        known = find(_ROOM, source, Source)()  # type: ignore[type-abstract]
        known.download(lambda done, total: tell(f"downloading {source}", done, total or 0))
