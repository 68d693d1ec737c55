"""AimlessPeople: no routine at all."""

from dataclasses import dataclass

from rota.data.worlds.base import People
from rota.data.worlds.crowd import Crowd
from rota.data.worlds.deeds import Deeds


@dataclass(frozen=True)
class AimlessPeople(People):
    """They do what is popular, when people are awake: busy hours of all are nobody's routine."""

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
        return crowd.wander(crowd.counts)
