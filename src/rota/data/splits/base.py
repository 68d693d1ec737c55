"""Splitter: who is asked what, and what each stage may see."""

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rota.data.log import Log
from rota.data.vocabulary import texts
from rota.errors import InputError
from rota.histories import Spans, Stages, flat_rows
from rota.tables import Recipe
from rota.types import BoolArray, Int64Array
from rota.units import ticks_per_second

__all__ = ["Splitter"]

_TARGETS = 2**16  # of one piece of the digest


@dataclass(frozen=True)
class Splitter(Recipe, ABC):
    """A protocol's split. The file that defines one writes down what each stage may see.

    Attributes:
        name: Name of the file that defines it.
    """

    name: ClassVar[str]

    @abstractmethod
    def askable(self, log: Log) -> BoolArray:
        """Users with events enough for `stages`, shape ``(users,)``; others are to be left out first."""

    @abstractmethod
    def stages(self, log: Log) -> Stages:
        """Split a log.

        Raises:
            InputError: A stage would be empty, or a user has too few events.
        """


def settle_stages(
    name: str, log: Log, *, train: Spans, validation: Spans, test: Spans, counted: Spans
) -> Stages:
    """Stages with their hash.

    Raises:
        InputError: One of them is empty.
    """
    for stage, spans in (("training", train), ("validation", validation), ("test", test)):
        if not len(spans.users):
            raise InputError(
                f"{log.name}: split {name} leaves no user for the {stage} (of {log.num_users} users and "
                f"{len(log)} events): expected at least one; move the borders or use a longer log"
            )
    return Stages(name, train, validation, test, counted, split_digest(name, log, validation, test))


def split_digest(name: str, log: Log, validation: Spans, test: Spans) -> str:
    """SHA-256, in hex, of who is asked what: stage, user, item and time of every target.

    Ids and nanoseconds go in, in the order of the text of the ids, so neither codes, nor the unit, nor the
    order in which a set of positives is stored matters.

    Args:
        name: Name of the protocol.
        log: Events.
        validation: What validation asks.
        test: What the test asks.
    """
    users, items = texts(log.user_ids), texts(log.item_ids)
    by_user, by_item = _text_order(log.user_ids), _text_order(log.item_ids)
    nanoseconds = ticks_per_second("ns") // ticks_per_second(log.about.unit)
    digest = hashlib.sha256(json.dumps(["rota split 2", name]).encode())
    for stage, spans in (("validation", validation), ("test", test)):
        rows = flat_rows(spans.stops, spans.ends)
        who, what, when = np.repeat(spans.users, spans.ends - spans.stops), log.items[rows], log.times[rows]
        digest.update(json.dumps([stage, len(rows)]).encode())
        order = np.lexsort((when, by_item[what], by_user[who]))
        for first in range(0, len(order), _TARGETS):
            at = order[first : first + _TARGETS]
            columns = (who[at].tolist(), what[at].tolist(), when[at].tolist())  # Python ints: no overflow
            asked = [[users[u], items[i], time * nanoseconds] for u, i, time in zip(*columns, strict=True)]
            digest.update(json.dumps(asked).encode())
    return digest.hexdigest()


def _text_order(ids: pa.Array) -> Int64Array:
    """Place of each id when they are sorted as text."""
    order = pc.sort_indices(ids.cast(pa.large_string())).to_numpy()
    places = np.empty(len(ids), dtype=np.int64)
    places[order] = np.arange(len(ids))
    return places
