"""People: one way of living, by which events come about."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from rota.data.worlds.crowd import Crowd
from rota.data.worlds.deeds import Deeds
from rota.tables import Recipe

__all__ = ["People"]


@dataclass(frozen=True)
class People(Recipe, ABC):
    """A kind of people. A file of this room defines one; its fields are its recipe."""

    @property
    @abstractmethod
    def cycle(self) -> int | None:
        """Seconds after which what they do returns; ``None`` where nothing returns by the clock."""

    @property
    @abstractmethod
    def habits(self) -> int:
        """Habits that a person has at a time; their items differ."""

    @abstractmethod
    def live(self, crowd: Crowd) -> Deeds:
        """What a crowd of such people does: exactly as many events for each as ``crowd.counts`` says."""
