"""Whether a copy is the published file: by the publisher's checksum, or by that of the first copy."""

import gzip
import hashlib
import zlib
from pathlib import Path

from rota.data.downloads.remote import Remote
from rota.errors import InputError
from rota.files import written_whole

__all__ = []

_GZIP = b"\x1f\x8b"
_FIRST = "sha256"  # what is recorded where the publisher gives no checksum


def verify(file: Path, remote: Remote) -> str:
    """Check a copy, which is read once in full each time: it cannot change unnoticed.

    Args:
        file: The copy, in its place in the cache or on its way there.
        remote: What it is a copy of.

    Returns:
        Its checksum, ``"algorithm:digest"``.

    Raises:
        InputError: It is another file.
    """
    _check_beginning(file, remote)
    record = record_of(remote)
    if remote.checksum is not None:
        expected, whose = remote.checksum, "the publisher's"
        remedy = (
            f"it is damaged or another version: delete it and try again, or get it anew from {remote.page}"
        )
    elif record.exists():
        expected, whose = record.read_text("ascii").strip(), f"that of the first copy ({record})"
        remedy = f"delete it and try again, or delete {record} if a new version was published"
    else:
        _check_whole(file)
        found = checksum(file, _FIRST)
        with written_whole(record) as part:
            part.write_text(f"{found}\n", "ascii")
        return found
    found = checksum(file, expected.partition(":")[0])
    if found != expected:
        raise InputError(f"{file} has the checksum {found}, expected {whose}, {expected}: {remedy}")
    return found


def record_of(remote: Remote) -> Path:
    """Where the checksum of the first copy is kept: a line such as ``sha256:1f2e...``."""
    return remote.path.with_name(f"{remote.path.name}.first")


def checksum(file: Path, algorithm: str) -> str:
    """Checksum of a file as ``"algorithm:digest"``."""
    with file.open("rb") as content:
        made = hashlib.file_digest(content, lambda: hashlib.new(algorithm, usedforsecurity=False))
    return f"{algorithm}:{made.hexdigest()}"


def _check_whole(file: Path) -> None:
    """Read a gzipped file to its end: its own checksum at its end is not looked at by the database."""
    with file.open("rb") as content:
        if content.read(2) != _GZIP:
            return
    try:
        with gzip.open(file) as content:
            while content.read(2**20):
                pass
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file} is damaged: {error}: delete it and get it anew") from error


def _check_beginning(file: Path, remote: Remote) -> None:
    with file.open("rb") as content:
        start = content.read(len(remote.begins))
    if start != remote.begins:
        raise InputError(
            f"{file} is not the file that {remote.page} publishes: it begins with {start!r}, expected "
            f"{remote.begins!r}: delete it and get it anew"
        )
