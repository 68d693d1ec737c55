"""What users did, flat: the one shape in which data reaches training and evaluation."""

from dataclasses import dataclass
from typing import NamedTuple

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

    For validation and test, the event to be predicted is row ``stop``. All arrays have shape ``(spans,)``.
    """

    users: Int64Array
    starts: Int64Array
    stops: Int64Array


@dataclass(frozen=True)
class Stages:
    """Three stages of one protocol; ``data/splits`` writes down what each may see.

    Attributes:
        name: Name of the protocol.
        train: Events to learn from: inputs and targets.
        validation: Histories whose next event selects the epoch.
        test: Histories whose next event is reported.
        hash: Digest of who is asked what; results of two different hashes are not comparable.
    """

    name: str
    train: Spans
    validation: Spans
    test: Spans
    hash: str
