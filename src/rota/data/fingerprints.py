"""The digest of a log: the same for the same events, however they were stored or their users ordered."""

import hashlib
import json

import numpy as np
import pyarrow as pa

from rota.data.vocabulary import texts
from rota.types import Int64Array

__all__ = []

_ROWS = 2**20  # at a time: a mapped log is read through, not read in


class ColumnDigest:
    """SHA-256 of a column that comes in pieces; how it was cut does not matter."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, rows: Int64Array) -> None:
        """Take some rows."""
        for first in range(0, len(rows), _ROWS):
            self._digest.update(np.ascontiguousarray(rows[first : first + _ROWS], dtype="<i8").data)

    def hex(self) -> str:
        """The digest so far."""
        return self._digest.hexdigest()


def column_digest(rows: Int64Array) -> str:
    """SHA-256, in hex, of a whole column."""
    digest = ColumnDigest()
    digest.add(rows)
    return digest.hex()


def fingerprint(unit: str, user_ids: pa.Array, item_ids: pa.Array, *columns: str) -> str:
    """SHA-256, in hex, of a log: unit, ids, and the digests of its columns.

    Args:
        unit: Unit of the times.
        user_ids: Users by code.
        item_ids: Items by code.
        columns: Digests of offsets, items and times, and of the local times where there are any.
    """
    return hashlib.sha256(
        json.dumps(["rota log 2", unit, _of_ids(user_ids), _of_ids(item_ids), *columns]).encode()
    ).hexdigest()


def _of_ids(ids: pa.Array) -> str:
    digest = hashlib.sha256()
    for first in range(0, len(ids), _ROWS):
        for text in texts(ids.slice(first, _ROWS)):
            digest.update(json.dumps(text).encode() + b"\n")
    return digest.hexdigest()
