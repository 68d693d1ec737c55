"""Lives of habits: drift replaces one by another, at a rate."""

from dataclasses import dataclass

import numpy as np

from rota.data.worlds.crowd import Crowd
from rota.data.worlds.hours import DAY
from rota.types import Float64Array, Int64Array

__all__: list[str] = []


@dataclass(frozen=True)
class Lives:
    """When each person's habits are replaced.

    Attributes:
        begins: Seconds from the start of the world at which each habit of a slot begins, the first at 0,
            shape ``(people, slots, habits)``.
    """

    begins: Float64Array

    @staticmethod
    def of(crowd: Crowd, slots: int) -> "Lives":
        """Draw them: the lives of habits are exponential with mean ``crowd.drift``.

        As many are drawn as a slot has at the very most: with one more than ``m + 7 sqrt(m) + 20`` of them
        where ``m`` are expected, the last ends within the span once in 1e10 slots, and is then kept.
        """
        people, span = len(crowd.counts), crowd.days * DAY
        first = np.zeros((people, slots, 1))
        if crowd.drift is None:
            return Lives(first)
        expected = span / crowd.drift
        most = int(expected + 7 * expected**0.5) + 20
        lengths = crowd.rng.exponential(crowd.drift, (people, slots, most))
        begins = np.concatenate([first, np.cumsum(lengths, axis=-1)], axis=-1)
        used = int((begins < span).sum(-1).max(initial=1))
        return Lives(begins[..., :used])

    def at(self, who: Int64Array, slot: Int64Array, age: Int64Array) -> Int64Array:
        """Which of a slot's habits lives at an age of the world in seconds; all of shape ``(events,)``."""
        if self.begins.shape[-1] == 1:
            return np.zeros(len(who), np.int64)
        begun: Int64Array = (self.begins[who, slot] <= age[:, None]).sum(-1)
        return begun - 1
