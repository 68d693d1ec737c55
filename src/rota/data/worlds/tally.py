"""Tally: what was made, counted while it streams by."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rota.data.worlds.rows import kind_labels
from rota.data.worlds.world import World

__all__ = ["KindTally"]


@dataclass(frozen=True)
class KindTally:
    """What people of one kind did.

    Attributes:
        kind: Its label.
        people: How many they are.
        events: What they did.
        routine: Events that come from a habit.
        repeated: Events that repeat an earlier one of the person.
        period: Seconds after which their habits return; ``None`` where nothing returns by the clock.
    """

    kind: str
    people: int
    events: int
    routine: int
    repeated: int
    period: int | None

    def to_dict(self) -> dict[str, object]:
        """For a file; what does not apply is left out."""
        return {key: value for key, value in vars(self).items() if value is not None}


class Tally:
    """Counts the batches of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._counts = np.zeros((3, len(world.kinds)), np.int64)

    def add(self, batch: pa.RecordBatch) -> None:
        """Count one batch of the world, whose kinds are numbered as the world's."""
        kind = batch["kind"].indices.to_numpy()
        every = np.ones(len(kind), np.bool_)
        chosen = (every, batch["routine"].to_numpy() >= 0, batch["follows"].to_numpy() >= 0)
        for counts, mask in zip(self._counts, chosen, strict=True):
            counts += np.bincount(kind[mask], minlength=len(counts))

    def kinds(self) -> tuple[KindTally, ...]:
        """What was counted, by kind."""
        kinds = self._world.kinds
        people = np.bincount(self._world.population.kind, minlength=len(kinds))
        found = zip(kind_labels(kinds), people.tolist(), *self._counts.tolist(), kinds, strict=True)
        return tuple(
            KindTally(label, users, events, routine, repeated, kind.cycle)
            for label, users, events, routine, repeated, kind in found
        )
