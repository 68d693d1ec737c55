"""World: people, places and items of which all is known, and the log that they leave."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
import pyarrow as pa

from rota.data.worlds.base import People
from rota.data.worlds.catalogue import Catalogue
from rota.data.worlds.checking import check_numbers, check_sizes, first_day, whole_number
from rota.data.worlds.clocks import WallClocks, known_zone
from rota.data.worlds.crowd import Crowd
from rota.data.worlds.daily import DailyPeople
from rota.data.worlds.deeds import together
from rota.data.worlds.hours import DAY, Hours
from rota.data.worlds.population import Population, deal, deal_counts, shares_of
from rota.data.worlds.rows import Writer, kind_labels, rebatched
from rota.errors import InputError
from rota.tables import Recipe
from rota.types import Duration
from rota.units import duration_text, seconds

__all__ = ["World"]

_MOST_DAYS = 36_525  # a century
_POPULATION, _ITEMS, _PEOPLE = 0, 1, 2  # streams of randomness
_MOST_LIVES = 100  # of a habit after the other: they are held in memory for many people
_CYCLES = 2  # of a habit that returns: fewer show nothing


@dataclass(frozen=True)
class World(Recipe):
    """A log that is a function of its seed, with the truth about every event.

    It is made and handed on in blocks of people; memory does not grow with events, but with users, items, and
    the events of the busiest person. Another way of cutting it into batches gives the same rows.

    Attributes:
        seed: Of all randomness.
        users: How many people there are: each has one event at least.
        events: How many rows the log has, exactly.
        items: How many items there are in the end.
        start: First day, ``"2024-01-01"``. A day begins at midnight of each person's zone.
        span: Length, in whole days.
        kinds: Ways of living.
        shares: Share of people of each kind; equal by default.
        zones: Time zones.
        zone_shares: Share of people in each zone; equal by default.
        hours: When people are awake: ``"flat"``, ``"evening"`` or ``"office"``.
        drift: Mean life of a habit, after which another takes its place; ``None`` for ever.
        novelty: Share of items that appear after the start.
        popularity: Exponent by which popularity falls with rank; 0 makes all items alike.
        spread: Standard deviation of the logarithm of people's numbers of events.
        resolution: To which times are rounded down, in whole seconds of UTC.
    """

    seed: int = 0
    users: int = 1000
    events: int = 100_000
    items: int = 1000
    start: str = "2024-01-01"
    span: Duration = "180d"
    kinds: tuple[People, ...] = (DailyPeople(),)
    shares: tuple[float, ...] | None = None
    zones: tuple[str, ...] = ("UTC",)
    zone_shares: tuple[float, ...] | None = None
    hours: str = "evening"
    drift: Duration | None = None
    novelty: float = 0.0
    popularity: float = 1.0
    spread: float = 0.7
    resolution: Duration = "1s"

    def __post_init__(self) -> None:
        check_sizes(seed=self.seed, users=self.users, events=self.events, items=self.items)
        check_numbers(novelty=self.novelty, popularity=self.popularity, spread=self.spread)
        first_day(self.start)
        for zone in self.zones:
            known_zone(zone)
        shares_of(self.shares, len(self.kinds), "kinds")
        shares_of(self.zone_shares, len(self.zones), "zones")
        Hours(self.hours, self.first, self.days)
        least = max(_CYCLES * (kind.cycle or 1) for kind in self.kinds)
        if self.days * DAY < least:
            raise InputError(
                f"span {self.span!r}: expected {duration_text(least)} at least, {_CYCLES} cycles of each kind"
            )
        if self.drift is not None and seconds(self.drift) * _MOST_LIVES < self.days * DAY:
            raise InputError(f"drift {self.drift!r}: expected a hundredth of the span {self.span!r} at least")
        _ = self.tick

    @cached_property
    def days(self) -> int:
        """Length of the span."""
        return whole_number(self.span, DAY, "span in days", _MOST_DAYS)

    @cached_property
    def first(self) -> int:
        """Midnight with which it begins, in seconds since 1970 on the wall clock."""
        return (first_day(self.start) - date(1970, 1, 1)).days * DAY

    @property
    def tick(self) -> int:
        """Seconds of the resolution."""
        return whole_number(self.resolution, 1, "resolution in seconds", DAY)

    @cached_property
    def population(self) -> Population:
        """Everybody."""
        rng = self._rng(_POPULATION)
        return Population(
            deal_counts(rng, self.users, self.events, self.spread),
            deal(rng, self.users, shares_of(self.shares, len(self.kinds), "kinds")),
            deal(rng, self.users, shares_of(self.zone_shares, len(self.zones), "zones")),
        )

    def batches(self, rows: int = 65_536) -> Iterator[pa.RecordBatch]:
        """The log and the truth about it, in batches of exactly ``rows`` rows, the last one excepted.

        Rows are by user, and for each in the order of time. The log: ``user`` and ``item`` (int64), ``time``
        (int64, Unix seconds), ``zone`` (dictionary). The truth: ``event`` (int64, number of the row in this
        order), ``kind`` of the person (dictionary), ``routine`` (int64, which of the person's habits the
        event comes from, -1 for none), ``due`` (int64, Unix seconds at which the habit was due, the event's
        time where it comes from none), ``follows`` (int64, the ``event`` that it repeats, -1 for none),
        ``new`` (the item did not exist at the start).

        Raises:
            InputError: There are too few items for the people's habits, or ``rows`` is not positive.
        """
        if rows < 1:
            raise InputError(f"batches of {rows} rows: expected at least one")
        return rebatched(self._blocks(), rows)

    def _blocks(self) -> Iterator[pa.RecordBatch]:
        catalogue = self._catalogue()
        clocks = WallClocks(self.zones, self.first, self.first + self.days * DAY)
        hours, population = Hours(self.hours, self.first, self.days), self.population
        drift = None if self.drift is None else seconds(self.drift)
        writer = Writer(kind_labels(self.kinds), self.zones, catalogue, population, self.tick)
        done = 0
        for number, users in enumerate(population.blocks()):
            parts = []
            for index, kind in enumerate(self.kinds):
                people = users.start + np.flatnonzero(population.kind[users] == index)
                counts, zone = population.counts[people], population.zone[people]
                rng = self._rng(_PEOPLE, number, index)  # each kind has randomness of its own
                crowd = Crowd(rng, counts, zone, clocks, hours, catalogue, self.days, drift)
                parts.append(kind.live(crowd).of(people - users.start))
            yield writer.batch(together(parts).in_order(), users, done)
            done += int(population.counts[users].sum())

    def _catalogue(self) -> Catalogue:
        return Catalogue(
            self._rng(_ITEMS),
            items=self.items,
            exponent=self.popularity,
            novelty=self.novelty,
            first=self.first,
            last=self.first + self.days * DAY,
            habits=max(kind.habits for kind in self.kinds),
        )

    def _rng(self, *stream: int) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=stream)))
