"""Catalogue: items by code, how often each occurred, and the codes of raw ids."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as kinds

from rota.errors import InputError
from rota.files import written_whole
from rota.types import Int64Array

__all__ = ["Catalogue"]

_ROWS = 2**20  # of one piece of the digest
_WHOLE, _TEXT = "whole numbers", "text"


@dataclass(frozen=True, eq=False)
class Catalogue:
    """What a model can name.

    Attributes:
        ids: Items by code.
        counts: Events of each that training could see, shape ``(items,)``.
    """

    ids: pa.Array
    counts: Int64Array

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, of the ids by code and their type."""
        digest = hashlib.sha256(json.dumps(["rota catalogue 1", _kind(self.ids.type)]).encode())
        for first in range(0, len(self.ids), _ROWS):
            for text in self.ids.slice(first, _ROWS).cast(pa.large_string()).to_pylist():
                digest.update(json.dumps(text).encode() + b"\n")
        return digest.hexdigest()

    def codes(self, items: pa.Array) -> Int64Array:
        """Code of each id, -1 where it is none of these; in their shape.

        Raises:
            InputError: The ids are of another kind than these: numbers and text are never taken for each
                other.
        """
        if kinds.is_null(items.type):
            return np.full(len(items), -1, np.int64)
        wanted, given = _kind(self.ids.type), _kind(items.type)
        if given != wanted:
            raise InputError(
                f"items are {given}, those of the model's catalogue are {wanted}, such as "
                f"{self.ids[0].as_py()!r}: give the ids as the log has them"
            )
        try:
            found = pc.index_in(items.cast(self.ids.type), value_set=self.ids)
        except pa.ArrowInvalid:  # a number that the type does not hold is no item of these
            found = pa.array([_place(item, self.ids) for item in items])
        return np.asarray(found.fill_null(-1).cast(pa.int64()).to_numpy(zero_copy_only=False))

    def named(self, codes: Int64Array) -> list[Any]:
        """Ids of codes, as plain values."""
        return list(self.ids.take(pa.array(codes, pa.int64())).to_pylist())

    def save(self, path: Path) -> None:
        """Write both columns as Parquet; the file appears only when complete."""
        with written_whole(path) as part:
            pq.write_table(pa.table({"item": self.ids, "count": pa.array(self.counts)}), part)

    @classmethod
    def load(cls, path: Path) -> "Catalogue":
        """Read what `save` wrote.

        Raises:
            InputError: It is missing or cannot be read.
        """
        try:
            table = pq.read_table(path, columns=["item", "count"]).combine_chunks()
            ids, counts = (
                pa.concat_arrays(table[name].chunks or [pa.array([])]) for name in ("item", "count")
            )
            numbers = np.asarray(counts.cast(pa.int64()).to_numpy(), dtype=np.int64)
            if (numbers < 0).any():
                raise ValueError(f"a count of {numbers.min()}")
            return cls(ids, numbers)
        except FileNotFoundError as error:
            raise InputError(f"{path}: no such file; expected the vocabulary beside the weights") from error
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            reason = " ".join(str(error).split())
            raise InputError(f"{path} cannot be read ({reason}): get the model again") from error


def _place(item: pa.Scalar, ids: pa.Array) -> int | None:
    try:
        found = pc.index(ids, item.cast(ids.type)).as_py()
    except pa.ArrowInvalid:
        return None
    return None if found < 0 else found


def _kind(kind: pa.DataType) -> str:
    """What ids of a type are: types of one kind are compared by value."""
    if kinds.is_integer(kind):
        return _WHOLE
    return _TEXT if kinds.is_string(kind) or kinds.is_large_string(kind) else str(kind)
