"""What users did, flat: the one shape in which data reaches training and evaluation."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rota.types import Int64Array


@dataclass(frozen=True)
class Histories:
    """Events of all users in flat arrays, each user's oldest first.

    Attributes:
        items: Item codes ``0..num_items-1``, shape ``(events,)``.
        times: Clock of each event in ticks of ``unit``, shape ``(events,)``.
        offsets: User ``u`` owns rows ``offsets[u]`` up to ``offsets[u + 1]``; shape ``(users + 1,)``.
        num_items: Size of the catalogue.
        unit: Unit of ``times``: s, ms, us or ns.
    """

    items: Int64Array
    times: Int64Array
    offsets: Int64Array
    num_items: int
    unit: str = "s"

    @property
    def num_users(self) -> int:
        """Number of users."""
        return len(self.offsets) - 1


class Spans(NamedTuple):
    """What a stage may see of each user: rows ``start`` up to ``stop`` (not included).

    For validation and test, the events to be predicted are rows ``stop`` up to ``end`` (not included): one,
    or a set of positives whose order means nothing. For training, ``end`` is ``stop``. All arrays have shape
    ``(spans,)``.
    """

    users: Int64Array
    starts: Int64Array
    stops: Int64Array
    ends: Int64Array


@dataclass(frozen=True)
class Stages:
    """Three stages of one protocol; ``data/splits`` writes down what each may see.

    Attributes:
        name: Name of the protocol.
        train: Events to learn from: inputs and targets.
        validation: Histories whose next events select the epoch.
        test: Histories whose next events are reported.
        counted: Events of everybody that an untrained model may count when the test is asked (popularity).
        hash: Digest of who is asked what; results of two different hashes are not comparable.
    """

    name: str
    train: Spans
    validation: Spans
    test: Spans
    counted: Spans
    hash: str


def flat_rows(starts: Int64Array, stops: Int64Array) -> Int64Array:
    """Rows ``start`` up to ``stop`` (not included) of each range, one after another; shape ``(rows,)``."""
    lengths = stops - starts
    before = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(starts - before, lengths))
