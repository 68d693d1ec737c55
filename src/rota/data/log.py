"""Log: who did what when, coded and in order, in memory or mapped from the disk."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from rota.data.about import About
from rota.data.fingerprints import column_digest, fingerprint
from rota.data.vocabulary import used_only
from rota.errors import InputError
from rota.histories import Histories
from rota.types import Int64Array
from rota.units import Unit, ticks_per_second

_DAY = 86_400


@dataclass(frozen=True, eq=False)
class Log:
    """Events ordered by user, then time, then what the rule of ties says.

    Attributes:
        items: Item code of each event, index into ``item_ids``; shape ``(events,)``.
        times: Time of each event in ticks of ``unit``, never decreasing for a user; shape ``(events,)``.
        offsets: User ``u`` owns rows ``offsets[u]`` up to ``offsets[u + 1]``; shape ``(users + 1,)``.
        local: The wall clock where the user was, counted as if it were Unix time, shape ``(events,)``; it may
            step back where summer time ends. ``None`` where no zone was given, or ``times`` show it already.
        user_ids: Users by code, ordered by value: numbers numerically, text by its bytes.
        item_ids: Items by code, likewise.
        about: What the log was made of.
        known_fingerprint: Its `fingerprint` where that is known already, as it is of a prepared dataset.
    """

    items: Int64Array
    times: Int64Array
    offsets: Int64Array
    local: Int64Array | None
    user_ids: pa.Array
    item_ids: pa.Array
    about: About
    known_fingerprint: str = ""

    def __len__(self) -> int:
        """Number of events."""
        return len(self.times)

    @property
    def name(self) -> str:
        """File, source or DataFrame."""
        return self.about.name

    @property
    def unit(self) -> Unit:
        """Unit of the times: s, ms, us or ns."""
        return self.about.unit

    @property
    def zone(self) -> str | None:
        """Time zone of the users, or ``"by row"``; ``None`` where none is known."""
        return self.about.zone

    @property
    def num_users(self) -> int:
        """Number of users, each with at least one event."""
        return len(self.user_ids)

    @property
    def num_items(self) -> int:
        """Number of items, each with at least one event."""
        return len(self.item_ids)

    @property
    def counts(self) -> Int64Array:
        """Events of each user, shape ``(users,)``."""
        return np.diff(self.offsets)

    @cached_property
    def users(self) -> Int64Array:
        """User code of each event, index into ``user_ids``; shape ``(events,)``."""
        return np.repeat(np.arange(self.num_users, dtype=np.int64), self.counts)

    @cached_property
    def ties(self) -> int:
        """Number of neighbouring events of one user at equal times."""
        equal = self.times[1:] == self.times[:-1]
        equal[self.offsets[1:-1] - 1] = False  # the first of a user has no neighbour before
        return int(np.count_nonzero(equal))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of the ordered events: ids, times and unit; equal however the log was stored."""
        if self.known_fingerprint:
            return self.known_fingerprint
        columns = (self.offsets, self.items, self.times) + (() if self.local is None else (self.local,))
        digests = (column_digest(column) for column in columns)
        return fingerprint(self.about.unit, self.user_ids, self.item_ids, *digests)

    @property
    def clock(self) -> Int64Array:
        """What models see: the wall clock where it is known, else the times; shape ``(events,)``."""
        return self.times if self.local is None else self.local

    def histories(self) -> Histories:
        """All users' events, flat, on the `clock`; user and item codes are those of the log."""
        return Histories(self.items, self.clock, self.offsets, self.num_items, self.about.unit)

    def of_users(self, chosen: Int64Array) -> "Log":
        """Keep the events of some users, and number again the users and items that remain.

        Args:
            chosen: Codes of the users to keep, shape ``(kept,)``.
        """
        wanted = np.zeros(self.num_users, dtype=np.bool_)
        wanted[chosen] = True
        kept = np.repeat(wanted, self.counts)
        items, item_ids = used_only(self.items[kept], self.item_ids)
        return replace(
            self, items=items, times=self.times[kept],
            offsets=np.concatenate([[0], np.cumsum(self.counts[wanted])]).astype(np.int64),
            local=None if self.local is None else self.local[kept],
            user_ids=self.user_ids.filter(pa.array(wanted)), item_ids=item_ids, known_fingerprint="",
        )  # fmt: skip

    def with_least(self, events: int) -> "Log":
        """Keep users with at least so many events; counted once, and no item is dropped for being rare.

        Raises:
            InputError: There is no such user.
        """
        chosen = np.flatnonzero(self.counts >= events)
        if not len(chosen):
            raise InputError(
                f"{self.name}: no user has at least {events} events (the most is {self.counts.max()}, of "
                f"{self.num_users} users): lower the least number of events or use a longer log"
            )
        return self if len(chosen) == self.num_users else self.of_users(chosen)

    def sample_users(self, n: int, seed: int = 0, least: int = 1) -> "Log":
        """Keep a random sample of users with all their events; the same seed draws the same users.

        Args:
            n: Number of users to keep.
            seed: Seed of the draw.
            least: Draw among users with at least so many events.

        Raises:
            InputError: There are not so many users, or none is asked for.
        """
        enough = np.flatnonzero(self.counts >= least)
        if not 1 <= n <= len(enough):
            raise InputError(
                f"{self.name}: a sample of {n} users: expected 1 to {len(enough)}, its number of users "
                f"with {least} events or more"
            )
        drawn = np.random.default_rng(seed).choice(enough, size=n, replace=False)
        sample = self.of_users(drawn)
        return replace(sample, about=replace(self.about, name=f"{self.name}, sample of {n}"))

    def describe(self) -> list[tuple[str, str]]:
        """What a person should see before trusting the log, as labels and values."""
        about = self.about
        missing = f", {about.dropped:,} of them without a user or an item" if about.dropped else ""
        skipped = f", {about.skipped:,} skipped" if about.skipped else ""
        pairs = max(len(self) - self.num_users, 1)
        how = "as stated or by its type" if about.unit_stated else "inferred from the magnitude"
        return [
            ("log", self.name),
            ("rows read", f"{about.rows:,}{missing}{skipped}"),
            ("events", f"{len(self):,}"),
            ("users", f"{self.num_users:,}"),
            ("items", f"{self.num_items:,}"),
            (
                "ties",
                f"{self.ties:,} ({self.ties / pairs:.1%} of neighbouring events, {about.ties.in_words})",
            ),
            ("span", self._span()),
            ("unit", f"{about.unit}, {how}"),
            ("zone", about.zone or "none named: times as they are in the source"),
        ]

    def _span(self) -> str:
        clock, unit = self.clock, self.about.unit
        first, last = int(clock.min()), int(clock.max())
        days = (last - first) / ticks_per_second(unit) / _DAY
        if not self.about.known_epoch:
            return f"{days:,.1f} days from an unknown zero"
        whose = "" if self.local is None else ", on the users' clocks"
        return f"{np.datetime64(first, unit)} to {np.datetime64(last, unit)} ({days:,.1f} days{whose})"
