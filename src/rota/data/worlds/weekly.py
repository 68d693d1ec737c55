"""WeeklyPeople: the same weekday and hour of every week."""

from dataclasses import dataclass

from rota.data.worlds.base import People
from rota.data.worlds.crowd import Crowd
from rota.data.worlds.deeds import Deeds
from rota.data.worlds.hours import WEEK
from rota.data.worlds.slots import Slots, check_slots
from rota.types import Duration
from rota.units import seconds


@dataclass(frozen=True)
class WeeklyPeople(People):
    """Each has some hours of the week, on the local wall clock, with an item for each.

    Attributes:
        slots: Habits of a person.
        strength: Share of a person's events that are routine; a habit is kept once a week at most, and who
            has more events wanders the rest of the time.
        jitter: Standard deviation of an event from its hour.
    """

    slots: int = 6
    strength: float = 0.8
    jitter: Duration = "30min"

    def __post_init__(self) -> None:
        check_slots(self.slots, self.strength, self.jitter)

    @property
    def cycle(self) -> int:
        """A week."""
        return WEEK

    @property
    def habits(self) -> int:
        """One in each slot."""
        return self.slots

    def live(self, crowd: Crowd) -> Deeds:
        """What they do."""
        return Slots(WEEK, True, self.slots, self.strength, seconds(self.jitter)).live(crowd)
