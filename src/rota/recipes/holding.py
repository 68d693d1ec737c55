"""Holding: a folder for one run at a time, and for no other plan than what was begun in it."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from rota.errors import InputError
from rota.tables import Recipe, to_table

__all__: list[str] = []

LOCK = ".lock"


@contextmanager
def only_run(folder: Path, *, tidy: bool = False) -> Iterator[None]:
    """Hold a folder against every other run.

    Args:
        folder: It exists.
        tidy: Take the lock's file away at the end.

    Raises:
        InputError: Another run holds it.
    """
    lock = FileLock(folder / LOCK)  # the system lets go of it when the process ends, however it does
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise InputError(
            f"{folder} is in use by another run: expected one at a time; wait for it, or choose another "
            "folder"
        ) from error
    try:
        yield
    finally:
        if tidy:
            with suppress(OSError):  # on Windows it must be closed first
                (folder / LOCK).unlink(missing_ok=True)
        lock.release()


def first_difference(
    before: Recipe, now: Recipe, free: Collection[str] = ()
) -> tuple[str, object, object] | None:
    """Dotted key of the first value in which two tables differ, and what each has there.

    Args:
        before: One.
        now: The other.
        free: Keys in which they may differ.
    """
    one, other = _flat(to_table(before)), _flat(to_table(now))
    for key in {**one, **other}:
        if key not in free and one.get(key) != other.get(key):
            return key, one.get(key), other.get(key)
    return None


def _flat(table: Mapping[str, object], before: str = "") -> dict[str, object]:
    """Values by their dotted keys."""
    found: dict[str, object] = {}
    for key, value in table.items():
        own = _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {before + key: value}
        found |= own
    return found
