"""RepeatingPeople: recency and no clock."""

from dataclasses import dataclass

import numpy as np

from rota.data.worlds.base import People
from rota.data.worlds.crowd import Crowd
from rota.data.worlds.deeds import Deeds
from rota.data.worlds.slots import check_strength
from rota.errors import InputError


@dataclass(frozen=True)
class RepeatingPeople(People):
    """They do again what they did lately, whenever they are awake.

    Attributes:
        strength: Share of events that repeat one of the person's own, as far as he has any.
        memory: How many events ago that was, on average; the last one, most often (geometric).
    """

    strength: float = 0.6
    memory: float = 3.0

    def __post_init__(self) -> None:
        check_strength(self.strength)
        if not 1 <= self.memory < 1e6:
            raise InputError(f"memory {self.memory}: expected a number of events from 1 to a million")

    @property
    def cycle(self) -> None:
        """None."""
        return

    @property
    def habits(self) -> int:
        """None with an item of its own."""
        return 0

    def live(self, crowd: Crowd) -> Deeds:
        """What they do."""
        deeds = crowd.wander(crowd.counts).in_order()
        place = np.arange(len(deeds)) - np.repeat(np.cumsum(crowd.counts) - crowd.counts, crowd.counts)
        back = crowd.rng.geometric(1 / self.memory, len(deeds))
        repeats = (crowd.rng.random(len(deeds)) < self.strength) & (back <= place)
        origin = np.arange(len(deeds)) - np.where(repeats, back, 0)
        follows = np.where(repeats, origin, -1)
        while not np.array_equal(further := origin[origin], origin):  # halves what is left of each chain
            origin = further
        return Deeds(deeds.who, deeds.time, deeds.item[origin], deeds.routine, deeds.due, follows)
