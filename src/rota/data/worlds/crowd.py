"""Crowd: people of one kind who are made at once, and the world that they share."""

from dataclasses import dataclass, replace

import numpy as np

from rota.data.worlds.catalogue import Catalogue
from rota.data.worlds.clocks import WallClocks
from rota.data.worlds.deeds import Deeds, free
from rota.data.worlds.hours import Hours
from rota.types import Int64Array

__all__: list[str] = []


@dataclass(frozen=True)
class Crowd:
    """Some people of one kind.

    Attributes:
        rng: Their randomness.
        counts: Events of each person, shape ``(people,)``.
        zone: Index of each person's time zone, shape ``(people,)``.
        clocks: The zones.
        hours: When people are awake.
        catalogue: What can be done.
        days: Length of the world.
        drift: Mean life of a habit in seconds; ``None`` where habits last.
    """

    rng: np.random.Generator
    counts: Int64Array
    zone: Int64Array
    clocks: WallClocks
    hours: Hours
    catalogue: Catalogue
    days: int
    drift: float | None

    @property
    def first(self) -> int:
        """Midnight with which the world begins, in seconds on everyone's own wall clock."""
        return self.hours.first

    def to_utc(self, local: Int64Array, who: Int64Array) -> Int64Array:
        """Unix time of readings of these people's wall clocks."""
        return self.clocks.to_utc(local, self.zone[who])

    def wander(self, counts: Int64Array) -> Deeds:
        """Events without any habit: at hours when people are awake, what is popular."""
        who = np.repeat(np.arange(len(counts)), counts)
        time = self.to_utc(self.hours.moments(self.rng, len(who)), who)
        return free(who, time, self.catalogue.draw(self.rng, time))

    def with_counts(self, counts: Int64Array) -> "Crowd":
        """The same people with other numbers of events."""
        return replace(self, counts=counts)
