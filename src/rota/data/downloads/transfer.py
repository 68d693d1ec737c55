"""One file over HTTP, continued where it broke off."""

import os
from collections.abc import Callable, Iterator
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import cast
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from rota.errors import InputError

__all__ = []

Advance = Callable[[int, int | None], None]
"""Told how many bytes are there, and how many there will be, if that is known."""

_CHUNK = 2**18  # bytes
_TIMEOUT = 30  # s without a byte
_TRIES = 20
_PARTIAL, _UNSATISFIABLE = 206, 416


class UnreachableError(Exception):
    """The server cannot be reached, refuses, or broke off."""


def transfer(url: str, part: Path, advance: Advance) -> None:
    """Fetch a file, or the rest of it.

    What was there before is continued only where the server says that it still is the same file (HTTP's
    ``If-Range``); otherwise the file is fetched from its beginning. A broken connection is taken up again,
    up to twenty times, as long as a try brings something.

    Args:
        url: Address of the file.
        part: Where to write it, under the caller's lock. It stays when the transfer breaks off.
        advance: Told of the progress.

    Raises:
        UnreachableError: The file could not be had completely.
        InputError: The part cannot be written.
    """
    for tries_left in reversed(range(_TRIES)):
        before = _size(part)
        try:
            _try_once(url, part, advance)
            return
        except UnreachableError:
            if not tries_left or _size(part) == before:  # nothing came, nor was anything wrong discarded
                raise


def discard(part: Path) -> None:
    """Remove a part and what is known of it."""
    part.unlink(missing_ok=True)
    _tag(part).unlink(missing_ok=True)


def _try_once(url: str, part: Path, advance: Advance) -> None:
    held = _size(part) if _tag(part).exists() else 0
    headers = {"User-Agent": "rota", "Accept-Encoding": "identity"}
    if held:
        headers |= {"Range": f"bytes={held}-", "If-Range": _tag(part).read_text("latin-1")}
    try:
        response = cast(HTTPResponse, urlopen(Request(url, headers=headers), timeout=_TIMEOUT))
    except HTTPError as error:
        error.close()
        if error.code == _UNSATISFIABLE and error.headers.get("Content-Range") == f"bytes */{held}":
            advance(held, held)  # an earlier run had fetched all of it
        else:
            if error.code == _UNSATISFIABLE:
                discard(part)
            raise UnreachableError(f"HTTP {error.code} {error.reason}") from error
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise UnreachableError(str(reason) or type(reason).__name__) from error
    else:
        with response:
            _receive(response, part, held, advance)


def _receive(response: HTTPResponse, part: Path, held: int, advance: Advance) -> None:
    partial = response.status == _PARTIAL  # anything else is the whole file
    if partial and not response.headers.get("Content-Range", "").startswith(f"bytes {held}-"):
        discard(part)
        raise UnreachableError(f"the server sent bytes that were not asked for (from {held})")
    done = held if partial else 0
    total = None if response.length is None else done + response.length
    try:
        with part.open("ab" if partial else "wb") as file:
            _remember(response, part)  # after the bytes of another version are gone
            advance(done, total)
            for chunk in _chunks(response):
                file.write(chunk)
                done += len(chunk)
                advance(done, total)
    except OSError as error:
        raise InputError(
            f"{part}: cannot be written: {error.strerror or error}: make room or rights, or choose another "
            "folder with the environment variable ROTA_CACHE"
        ) from error
    if total is not None and done < total:  # http.client does not tell
        raise UnreachableError(f"the connection broke off after {done} of {total} bytes")


def _remember(response: HTTPResponse, part: Path) -> None:
    """Keep what tells this version of the file from others; without it the part is not continued."""
    tag = response.headers.get("ETag", "")
    if not tag.startswith('"'):  # absent, or weak: HTTP forbids it here
        tag = response.headers.get("Last-Modified", "")
    if tag:
        _tag(part).write_text(tag, "latin-1")
    else:
        _tag(part).unlink(missing_ok=True)


def _chunks(response: HTTPResponse) -> Iterator[bytes]:
    while True:
        try:
            chunk = response.read(_CHUNK)
        except (OSError, HTTPException) as error:
            raise UnreachableError(f"the connection broke off: {error or type(error).__name__}") from error
        if not chunk:
            return
        yield chunk


def _tag(part: Path) -> Path:
    return part.with_name(f"{part.name}.tag")


def _size(part: Path) -> int:
    return os.path.getsize(part) if part.exists() else 0
