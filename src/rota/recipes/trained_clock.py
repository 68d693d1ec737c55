"""TrainedClock: the clock that a model saw in training, and any time brought to it."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from rota.data.log import Log
from rota.data.zones import UTC, check_reach, check_zone, wall_clock
from rota.errors import InputError
from rota.recipes.raw_times import Given, Sort, rescaled
from rota.serving.artefact import Artefact
from rota.types import Int64Array
from rota.units import Unit, ticks_per_second

__all__: list[str] = []

BY_ROW = "by row"
_YEAR = 31_556_952  # s
_BEFORE, _AFTER = 10, 200  # years


class Shown(NamedTuple):
    """Times on the clock of a model.

    Attributes:
        clock: What it shows, in ticks, shape ``(times,)``.
        instants: Ticks since 1970 in UTC; ``None`` where the clock alone is known. They tell apart the two
            passes of the hour that repeats when summer time ends.
    """

    clock: Int64Array
    instants: Int64Array | None

    @property
    def order(self) -> Int64Array:
        """What tells earlier from later."""
        return self.clock if self.instants is None else self.instants


def joined(parts: Sequence[Shown]) -> Shown:
    """Times one after another; instants where all have them."""
    none: list[Int64Array] = [np.empty(0, np.int64)]
    instants = [part.instants for part in parts if part.instants is not None]
    whole = np.concatenate(none + instants) if len(instants) == len(parts) else None
    return Shown(np.concatenate(none + [part.clock for part in parts]), whole)


class TrainedClock:
    """Brings times to the clock that a model was trained on, by the rules by which its log was read.

    Whole numbers are in the model's unit, and mean what they meant in its log. Datetimes with an offset are
    instants, shown by the clock of the model's zone (UTC where it has none). Datetimes without one are what
    that clock shows already.
    """

    def __init__(self, artefact: Artefact, zone: str | None = None) -> None:
        """Take the model's clock.

        Args:
            artefact: The model.
            zone: Zone of the user, where the log of the model has one for each row, or none.

        Raises:
            InputError: There is no such zone, or the model has another.
        """
        facts = artefact.provenance
        self.unit, self.facts = artefact.unit, facts
        own = None if facts.zone == BY_ROW else facts.zone
        settled = own or ("UTC" if facts.absolute and facts.known_epoch and facts.zone != BY_ROW else None)
        if zone is not None:
            check_zone(zone)
            if not facts.known_epoch:
                raise InputError(f"zone {zone!r}: the model's times count from an unknown zero: leave it out")
            if settled not in (None, zone):
                raise InputError(
                    f"zone {zone!r}: the model was trained on the clock of {settled}, and knows no other: "
                    "leave the zone out"
                )
        self.zone = zone or settled

    def shown(self, given: Given, what: str) -> Shown:
        """Bring times to the clock.

        Args:
            given: The times.
            what: What they are called in messages.

        Raises:
            InputError: They cannot be brought there, or are so far from the training that the unit is wrong.
        """
        if not len(given.ticks):  # a new user
            return Shown(given.ticks, given.ticks)
        if not self.facts.known_epoch:
            if given.sort != Sort.TICKS:
                raise InputError(
                    f"{what}: the model's times count from an unknown zero and have no dates: give whole "
                    f"numbers of {self.unit} from the same zero"
                )
            return Shown(given.ticks, given.ticks)
        self._require_near(given.ticks, what)
        if given.sort == Sort.READING or (given.sort == Sort.TICKS and not self.facts.absolute):
            return Shown(given.ticks, given.ticks if self.zone in UTC else None)
        return self._of_instants(given.ticks, what)

    def of_log(self, log: Log) -> Shown:
        """Bring the events of a log to the clock.

        Raises:
            InputError: As `shown`, or the log shows the clock of another zone.
        """
        if log.about.known_epoch != self.facts.known_epoch:
            raise InputError(
                f"{log.name}: its times count from {'1970' if log.about.known_epoch else 'an unknown zero'}, "
                "those of the model do not: read it as the model's log was read (epoch=, --epoch)"
            )
        if log.zone not in (None, BY_ROW, self.zone) and self.zone is not None:
            raise InputError(
                f"{log.name} is read on the clock of {log.zone}, and the model was trained on that of "
                f"{self.zone}: leave the zone out"
            )
        times = rescaled(log.times, log.unit, self.unit, log.name)
        if log.local is not None and (self.zone is None or log.zone == BY_ROW):
            self._require_near(times, log.name)
            return Shown(rescaled(log.local, log.unit, self.unit, log.name), times)
        if not log.about.known_epoch:
            return self.shown(Given(Sort.TICKS, times), log.name)
        return self.shown(Given(Sort.INSTANT if log.about.absolute else Sort.READING, times), log.name)

    def text(self, tick: int) -> str:
        """How a reading of the clock is written in messages."""
        return str(np.datetime64(tick, cast(Unit, self.unit))) if self.facts.known_epoch else str(tick)

    def _of_instants(self, ticks: Int64Array, what: str) -> Shown:
        if self.zone is None:
            raise InputError(
                f"{what}: the model was trained on users' wall clocks, and these are instants: state the "
                "user's zone (zone=, --zone), or give what the user's clock shows, without an offset"
            )
        if len(ticks):
            check_reach(int(ticks.min()), int(ticks.max()), self.unit, what)
        return Shown(wall_clock(ticks, self.unit, self.zone), ticks)

    def _require_near(self, ticks: Int64Array, what: str) -> None:
        """Refuse times in another unit: they are decades from those of the training."""
        year = _YEAR * ticks_per_second(self.unit)
        early, late = self.facts.first - _BEFORE * year, self.facts.last + _AFTER * year
        far = np.flatnonzero((ticks < early) | (ticks > late))
        if len(far):
            raise InputError(
                f"{what}: {int(ticks[far[0]])} is {self.text(int(ticks[far[0]]))}, far from the events that "
                f"the model learnt from ({self.text(self.facts.first)} to {self.text(self.facts.last)}): "
                f"expected ticks of {self.unit} since 1970; check the unit"
            )
