"""Slots: habits that return with a period, each at its place in it and with its item."""

from dataclasses import dataclass

import numpy as np

from rota.data.worlds.cells import distinct_cells
from rota.data.worlds.crowd import Crowd
from rota.data.worlds.deeds import Deeds, together
from rota.data.worlds.hours import DAY
from rota.data.worlds.lives import Lives
from rota.errors import InputError
from rota.types import Duration, Float64Array, Int64Array
from rota.units import seconds

__all__: list[str] = []

_MOST = 100  # habits of a person at a time


def check_slots(slots: int, strength: float, jitter: Duration) -> None:
    """Check what kinds of people with slots have in common.

    Raises:
        InputError: A number is out of range.
    """
    if not 1 <= slots <= _MOST:
        raise InputError(f"slots {slots}: expected from 1 to {_MOST}")
    check_strength(strength)
    seconds(jitter)


def check_strength(strength: float) -> None:
    """Check a share of events.

    Raises:
        InputError: It is none.
    """
    if not 0 <= strength <= 1:
        raise InputError(f"strength {strength}: expected a share of events, from 0 to 1")


@dataclass(frozen=True)
class Slots:
    """How people with slots live.

    A person has ``count`` slots in every period. On an occasion that is taken, the slot's item is done at the
    slot's place in the period, give or take ``jitter``. The items of a person's slots differ, so that nothing
    of it returns at any other lag. What is not routine wanders.

    Attributes:
        period: Seconds; on a wall clock, a day or a week.
        on_wall_clock: Places are readings of the person's wall clock, which summer time moves; otherwise time
            that has passed.
        count: Slots of a person.
        strength: Share of events that are routine, as far as there are occasions: each is taken once at most.
        jitter: Standard deviation of an event from its place, in seconds.
    """

    period: int
    on_wall_clock: bool
    count: int
    strength: float
    jitter: float

    def live(self, crowd: Crowd) -> Deeds:
        """What a crowd does."""
        cells = crowd.days * DAY // self.period * self.count
        kept = np.minimum(crowd.rng.binomial(crowd.counts, self.strength), cells)
        return together([self._routine(crowd, kept, cells), crowd.wander(crowd.counts - kept)])

    def _routine(self, crowd: Crowd, kept: Int64Array, cells: int) -> Deeds:
        rng, lives = crowd.rng, Lives.of(crowd, self.count)
        place = self._places(crowd, lives.begins.size).reshape(lives.begins.shape)
        items = self._items(crowd, lives.begins)
        who, cell = distinct_cells(rng, kept, cells)
        start, slot = cell // self.count * self.period, cell % self.count
        habit = lives.at(who, slot, start)
        due = start + place[who, slot, habit]
        late = np.rint(self.jitter * rng.standard_normal(len(who))).astype(np.int64)
        return Deeds(
            who=who,
            time=self._to_utc(crowd, due + late, who),
            item=items[who, slot, habit],
            routine=habit * self.count + slot,
            due=self._to_utc(crowd, due, who),
            follows=np.full(len(who), -1),
        )

    def _places(self, crowd: Crowd, count: int) -> Int64Array:
        if self.on_wall_clock:
            return crowd.hours.offsets(crowd.rng, count, self.period)
        return crowd.rng.integers(0, self.period, count)

    def _items(self, crowd: Crowd, begins: Float64Array) -> Int64Array:
        """Items of the habits, which exist when they begin; slots have items of different parts."""
        people, slots, _ = begins.shape
        part = (np.arange(people)[:, None, None] + np.arange(slots)[:, None]) % slots
        part = np.broadcast_to(part, begins.shape).ravel()
        when = self._to_utc(crowd, np.zeros(people, np.int64), np.arange(people))[:, None, None] + begins
        drawn = crowd.catalogue.draw(crowd.rng, when.astype(np.int64).ravel(), part, slots)
        return drawn.reshape(begins.shape)

    def _to_utc(self, crowd: Crowd, age: Int64Array, who: Int64Array) -> Int64Array:
        if self.on_wall_clock:
            return crowd.to_utc(crowd.first + age, who)
        return crowd.to_utc(np.full(len(who), crowd.first), who) + age
