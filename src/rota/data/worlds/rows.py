"""Rows: what people did, as Arrow batches of a log with the truth about it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rota.data.worlds.base import People
from rota.data.worlds.catalogue import Catalogue
from rota.data.worlds.deeds import Deeds
from rota.data.worlds.population import Population
from rota.types import Int64Array

__all__: list[str] = []

_WORDS = pa.dictionary(pa.int32(), pa.string())
LOG = pa.schema([("user", pa.int64()), ("item", pa.int64()), ("time", pa.int64()), ("zone", _WORDS)])
TRUTH = pa.schema(
    [
        ("event", pa.int64()),
        ("kind", _WORDS),
        ("routine", pa.int64()),
        ("due", pa.int64()),
        ("follows", pa.int64()),
        ("new", pa.bool_()),
    ]
)
SCHEMA = pa.schema([*LOG, *TRUTH])


def kind_labels(kinds: Sequence[People]) -> list[str]:
    """Name of each kind: its file's, with its place where there are several of one."""
    names = [type(kind).__module__.rpartition(".")[2] for kind in kinds]
    return [
        name if names.count(name) == 1 else f"{name} {place}" for place, name in enumerate(names, start=1)
    ]


@dataclass(frozen=True)
class Writer:
    """Turns what people did into rows.

    Attributes:
        kinds: Labels of the kinds.
        zones: Names of the zones.
        catalogue: Of the items.
        population: Everybody.
        tick: To which times are rounded down, in seconds.
    """

    kinds: Sequence[str]
    zones: Sequence[str]
    catalogue: Catalogue
    population: Population
    tick: int

    def batch(self, deeds: Deeds, users: slice, done: int) -> pa.RecordBatch:
        """Rows of a block.

        Args:
            deeds: What its people did, in order.
            users: Who they are.
            done: Rows of the blocks before.
        """
        zone, kind = (part[users][deeds.who] for part in (self.population.zone, self.population.kind))
        columns = {
            "user": users.start + deeds.who,
            "item": deeds.item,
            "time": deeds.time // self.tick * self.tick,
            "zone": _words(zone, self.zones),
            "event": done + np.arange(len(deeds)),
            "kind": _words(kind, self.kinds),
            "routine": deeds.routine,
            "due": deeds.due,
            "follows": np.where(deeds.follows < 0, -1, done + deeds.follows),
            "new": self.catalogue.is_new(deeds.item),
        }
        return pa.record_batch(columns, schema=SCHEMA)


def _words(codes: Int64Array, words: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(words, pa.string()))


def rebatched(blocks: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of ``rows``; the last one has what is left."""
    held: list[pa.RecordBatch] = []
    for block in blocks:
        table = pa.Table.from_batches([*held, block])
        whole = len(table) // rows * rows
        for start in range(0, whole, rows):
            yield _one(table.slice(start, rows))
        held = table.slice(whole).to_batches()
    if held:
        yield _one(pa.Table.from_batches(held))


def _one(table: pa.Table) -> pa.RecordBatch:
    return table.combine_chunks().to_batches()[0]
