"""Moments: what is asked about at once."""

from dataclasses import dataclass

import numpy as np

from rota.data.events import Ties
from rota.data.log import Log
from rota.histories import Spans
from rota.types import Int64Array

__all__: list[str] = []


@dataclass(frozen=True)
class Moments:
    """A user's events in the pieces that a split may ask for.

    A piece is an event where ties have an order, and all events of an instant where they have none: a split
    then never cuts through an instant, and its events are one set of positives.

    Attributes:
        begins: First row of each piece, shape ``(pieces,)``; ``None`` where each event is one.
    """

    begins: Int64Array | None

    @classmethod
    def of(cls, log: Log) -> "Moments":
        """By the log's rule of ties."""
        return cls(instant_rows(log) if log.about.ties == Ties.UNORDERED else None)

    def counts(self, log: Log) -> Int64Array:
        """Pieces of each user, shape ``(users,)``."""
        if self.begins is None:
            return log.counts
        return np.diff(np.searchsorted(self.begins, log.offsets)).astype(np.int64)

    def before(self, rows: Int64Array) -> Int64Array:
        """First row of the piece that ends before each row, in the shape of ``rows``."""
        if self.begins is None:
            return rows - 1
        return self.begins[np.searchsorted(self.begins, rows) - 1]


def instant_rows(log: Log) -> Int64Array:
    """First row of each instant of each user, shape ``(instants,)``."""
    new = np.ones(len(log), dtype=np.bool_)
    new[1:] = log.times[1:] != log.times[:-1]
    new[log.offsets[:-1]] = True
    return np.flatnonzero(new).astype(np.int64)


def rows_from(log: Log, instant: int) -> Int64Array:
    """First row of each user at or after an instant, or one past the user's last; shape ``(users,)``.

    Args:
        log: Events.
        instant: In ticks of the log.
    """
    earlier = np.add.reduceat(log.times < instant, log.offsets[:-1], dtype=np.int64)
    return np.asarray(log.offsets[:-1] + earlier)


def before_all(log: Log, stops: Int64Array) -> Spans:
    """Every user's events before a row, of users who have any; nothing is asked.

    Args:
        log: Events.
        stops: A row of each user, or one past the last; shape ``(users,)``.
    """
    users = np.flatnonzero(stops > log.offsets[:-1])
    return Spans(users, log.offsets[users], stops[users], stops[users])
