"""ShiftWorkers: a rota that is not a day."""

from dataclasses import dataclass

from rota.data.worlds.base import People
from rota.data.worlds.crowd import Crowd
from rota.data.worlds.deeds import Deeds
from rota.data.worlds.slots import Slots, check_slots
from rota.types import Duration
from rota.units import seconds, whole_ticks


@dataclass(frozen=True)
class ShiftWorkers(People):
    """Habits return with the shifts: places in a period of any length, of time that passes.

    Summer time does not move them. Each person's shifts begin at an hour of his own.

    Attributes:
        period: Of the shifts; 36 hours are twelve at work and a day off.
        slots: Habits of a person in one period.
        strength: Share of a person's events that are routine; a habit is kept once a period at most, and who
            has more events wanders the rest of the time.
        jitter: Standard deviation of an event from its place.
    """

    period: Duration = "36h"
    slots: int = 3
    strength: float = 0.8
    jitter: Duration = "30min"

    def __post_init__(self) -> None:
        check_slots(self.slots, self.strength, self.jitter)
        whole_ticks(self.period)

    @property
    def cycle(self) -> int:
        """The period."""
        return whole_ticks(self.period)

    @property
    def habits(self) -> int:
        """One in each slot."""
        return self.slots

    def live(self, crowd: Crowd) -> Deeds:
        """What they do."""
        return Slots(self.cycle, False, self.slots, self.strength, seconds(self.jitter)).live(crowd)
