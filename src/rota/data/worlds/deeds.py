"""Deeds: events of some people with the truth about each, before they are put in order."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from rota.types import Int64Array

__all__: list[str] = []


@dataclass(frozen=True)
class Deeds:
    """Events in any order; all arrays have the shape ``(events,)``.

    Attributes:
        who: Index of the person in the crowd.
        time: Unix time in seconds.
        item: What was done.
        routine: Which of the person's habits it came from; -1 for none.
        due: Instant at which the habit was due, in Unix seconds; the event's own time where it is of none.
        follows: Index of the event of these that it repeats; -1 for none.
    """

    who: Int64Array
    time: Int64Array
    item: Int64Array
    routine: Int64Array
    due: Int64Array
    follows: Int64Array

    def __len__(self) -> int:
        return len(self.who)

    def of(self, people: Int64Array) -> "Deeds":
        """The same of people who are numbered otherwise: ``people[who]``."""
        return replace(self, who=people[self.who])

    def in_order(self) -> "Deeds":
        """The same by person, and for each by time."""
        order = np.lexsort((self.time, self.who)).astype(np.int64, copy=False)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        parts = {field.name: getattr(self, field.name)[order] for field in fields(self)}
        parent = parts["follows"]
        parts["follows"] = np.where(parent < 0, -1, place[parent])
        return Deeds(**parts)


def free(who: Int64Array, time: Int64Array, item: Int64Array) -> Deeds:
    """Events that come from no habit and repeat nothing."""
    none = np.full(len(who), -1)
    return Deeds(who, time, item, none, time, none)


def together(parts: Sequence[Deeds]) -> Deeds:
    """All events of the parts; what follows what stays true."""
    before = np.cumsum([0, *(len(part) for part in parts[:-1])])
    joined = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Deeds)
    }
    joined["follows"] = np.concatenate(
        [
            np.where(part.follows < 0, -1, part.follows + start)
            for part, start in zip(parts, before, strict=True)
        ]
    )
    return Deeds(**joined)
