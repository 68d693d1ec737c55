"""A published file from the cache, fetched first where it is not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from rota.data.downloads.remote import Remote
from rota.data.downloads.transfer import Advance, UnreachableError, discard, transfer
from rota.data.downloads.verifying import verify
from rota.errors import InputError

__all__ = []


def quiet(done: int, total: int | None) -> None:
    """Nobody is told of the progress."""


def fetch(remote: Remote, advance: Advance = quiet) -> tuple[Path, str]:
    """The verified copy of a published file.

    A copy has its name only when it is complete and verified; until then it is ``NAME.part``, which a later
    call continues. Of several processes one fetches, under a lock that ends with its process, and the others
    wait for it.

    Args:
        remote: The file.
        advance: Told of the progress, in bytes, where something is fetched.

    Returns:
        Path of the copy, and its checksum.

    Raises:
        InputError: It cannot be had, which the message says how to mend by hand, or is another file.
    """
    if not remote.path.exists():
        with _alone(remote):
            if not remote.path.exists():
                _bring(remote, advance)
    return remote.path, verify(remote.path, remote)


def _bring(remote: Remote, advance: Advance) -> None:
    if remote.url is None:
        raise InputError(f"{remote.path} is not there, and no program can fetch it: {_by_hand(remote)}")
    part = remote.path.with_name(f"{remote.path.name}.part")
    try:
        transfer(remote.url, part, advance)
    except UnreachableError as error:
        raise InputError(
            f"{remote.url} cannot be had: {error}: try again (what has come is kept), or {_by_hand(remote)}"
        ) from error
    try:
        verify(part, remote)
        os.replace(part, remote.path)
    finally:
        discard(part)  # what is wrong cannot be continued


def _by_hand(remote: Remote) -> str:
    how = f"by {remote.checksum}" if remote.checksum else "and its SHA-256 recorded for the next time"
    return f"get it from {remote.page} and put it at {remote.path}, where it is verified, {how}"


@contextmanager
def _alone(remote: Remote) -> Iterator[None]:
    folder = remote.path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(f"{remote.path}.lock")
        lock.acquire()
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be used as a cache: {error.strerror or error}: choose another folder with the "
            "environment variable ROTA_CACHE"
        ) from error
    try:
        yield
    finally:
        lock.release()
