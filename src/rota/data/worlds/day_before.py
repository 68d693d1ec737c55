"""DayBeforePeople: what came next yesterday is done today."""

from dataclasses import dataclass, replace

import numpy as np

from rota.data.worlds.base import People
from rota.data.worlds.cells import distinct_cells
from rota.data.worlds.crowd import Crowd
from rota.data.worlds.deeds import Deeds, free, together
from rota.data.worlds.hours import DAY
from rota.data.worlds.lives import Lives
from rota.data.worlds.slots import check_slots
from rota.errors import InputError
from rota.types import Duration, Int64Array
from rota.units import seconds, whole_ticks


@dataclass(frozen=True)
class DayBeforePeople(People):
    """A directed routine: at an hour, they do what they did ``ahead`` later the day before.

    What they did then was free, and is repeated once. So an item returns after a day less ``ahead``, never
    after a day more ``ahead`` nor after two days: a profile that looks alike to both sides of a day cannot
    tell which of yesterday's events matters.

    Attributes:
        ahead: How much later than this hour it was done the day before: less than a day.
        slots: Hours of a person at which the day before is repeated.
        strength: Share of events that are the first or second of such a pair.
        jitter: Standard deviation of each event from its hour.
    """

    ahead: Duration = "3h"
    slots: int = 3
    strength: float = 0.8
    jitter: Duration = "30min"

    def __post_init__(self) -> None:
        check_slots(self.slots, self.strength, self.jitter)
        if DAY - whole_ticks(self.ahead) < 10 * seconds(self.jitter):  # or a repetition could come first
            raise InputError(
                f"ahead {self.ahead!r}: expected less than a day, by ten times the jitter {self.jitter!r}"
            )

    @property
    def cycle(self) -> None:
        """None: what is repeated is not repeated again."""
        return

    @property
    def habits(self) -> int:
        """None with an item of its own."""
        return 0

    def live(self, crowd: Crowd) -> Deeds:
        """What they do."""
        cells = (crowd.days - 1) * self.slots
        pairs = np.minimum(crowd.rng.binomial(crowd.counts // 2, self.strength), cells)
        return together([self._pairs(crowd, pairs, cells), crowd.wander(crowd.counts - 2 * pairs)])

    def _pairs(self, crowd: Crowd, pairs: Int64Array, cells: int) -> Deeds:
        lives = Lives.of(crowd, self.slots)
        hours = crowd.hours.offsets(crowd.rng, lives.begins.size, DAY).reshape(lives.begins.shape)
        who, cell = distinct_cells(crowd.rng, pairs, cells)
        yesterday, slot = cell // self.slots * DAY, cell % self.slots
        habit = lives.at(who, slot, yesterday)
        hour = crowd.first + yesterday + hours[who, slot, habit]
        then = crowd.to_utc(self._late(crowd, hour + whole_ticks(self.ahead)), who)
        item = crowd.catalogue.draw(crowd.rng, then)
        today = hour + DAY
        none = np.full(len(who), -1)
        repeats = Deeds(
            who=who,
            time=crowd.to_utc(self._late(crowd, today), who),
            item=item,
            routine=habit * self.slots + slot,
            due=crowd.to_utc(today, who),
            follows=none,
        )
        both = together([free(who, then, item), repeats])
        return replace(both, follows=np.concatenate([none, np.arange(len(who))]))

    def _late(self, crowd: Crowd, due: Int64Array) -> Int64Array:
        late = seconds(self.jitter) * crowd.rng.standard_normal(len(due))
        return due + np.rint(late).astype(np.int64)
