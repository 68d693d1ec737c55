"""Splitter: who is asked what, and what each stage may see."""

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from rota.data.vocabulary import texts
from rota.histories import Histories, Stages
from rota.types import Int64Array
from rota.units import ticks_per_second

__all__ = ["Splitter"]


@dataclass(frozen=True)
class Splitter(ABC):
    """A protocol's split. The file that defines one writes down what each stage may see.

    Attributes:
        name: Name of the file that defines it, for results.
    """

    name: ClassVar[str]

    @abstractmethod
    def stages(self, histories: Histories, user_ids: pa.Array, item_ids: pa.Array) -> Stages:
        """Split every user's history.

        Args:
            histories: All users' events, oldest first.
            user_ids: Ids by user code, for the digest; shape ``(users,)``.
            item_ids: Ids by item code, for the digest; shape ``(items,)``.

        Raises:
            InputError: A user has too few events.
        """


def split_digest(
    name: str,
    histories: Histories,
    users: Int64Array,
    targets: Int64Array,
    user_ids: pa.Array,
    item_ids: pa.Array,
) -> str:
    """SHA-256, in hex, of who is asked what: user, item and time of every target.

    Ids and nanoseconds go in, in the order of the text of the ids, so neither codes nor the unit matter.

    Args:
        name: Name of the protocol.
        histories: All events.
        users: User code of each target, shape ``(targets,)``.
        targets: Row of each target in ``histories``, shape ``(targets,)``.
        user_ids: Ids by user code.
        item_ids: Ids by item code.
    """
    nanoseconds = ticks_per_second("ns") // ticks_per_second(histories.unit)
    asked = sorted(
        zip(
            texts(user_ids.take(pa.array(users))),
            texts(item_ids.take(pa.array(np.asarray(histories.items[targets])))),
            (time * nanoseconds for time in histories.times[targets].tolist()),  # Python ints: no overflow
            strict=True,
        )
    )
    return hashlib.sha256(json.dumps([name, asked]).encode()).hexdigest()
