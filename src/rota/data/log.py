"""Log: who did what when, coded and in order."""

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from rota.data.ordering import count_ties
from rota.data.vocabulary import Coded, settle, texts
from rota.errors import InputError
from rota.histories import Histories
from rota.types import Int64Array
from rota.units import Unit, ticks_per_second

_DAY = 86_400


@dataclass(frozen=True, eq=False)
class Log:
    """Events ordered by user, then time, then row in the source.

    Attributes:
        users: User code of each event, index into ``user_ids``; shape ``(events,)``.
        items: Item code of each event, index into ``item_ids``; shape ``(events,)``.
        times: Clock of each event in ticks of ``unit``; shape ``(events,)``. With a ``zone``, the wall clock
            there, counted as if it were Unix time; it may step back where summer time ends.
        user_ids: Users by code, ordered by value: numbers numerically, text by its bytes.
        item_ids: Items by code, likewise.
        unit: Unit of ``times``.
        unit_stated: The unit was stated or is part of the column's type; otherwise inferred.
        zone: Time zone that ``times`` show; ``None`` where none was named.
        rows: Rows read from the source, whatever was dropped, filtered or left out of a sample since.
        dropped: Rows without a user or an item.
        name: File, source or DataFrame.
    """

    users: Int64Array
    items: Int64Array
    times: Int64Array
    user_ids: pa.Array
    item_ids: pa.Array
    unit: Unit
    unit_stated: bool
    zone: str | None
    rows: int
    dropped: int
    name: str

    def __len__(self) -> int:
        """Number of events."""
        return len(self.times)

    @property
    def num_users(self) -> int:
        """Number of users, each with at least one event."""
        return len(self.user_ids)

    @property
    def num_items(self) -> int:
        """Number of items, each with at least one event."""
        return len(self.item_ids)

    @cached_property
    def ties(self) -> int:
        """Number of neighbouring events of one user at equal times, in the order of their rows."""
        return count_ties(self.users, self.times)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of the ordered events: ids, times and unit; equal however the log was stored."""
        digest = hashlib.sha256(json.dumps(["rota log 1", self.unit]).encode())
        for ids in (self.user_ids, self.item_ids):
            digest.update(json.dumps(texts(ids)).encode())
        for column in (self.users, self.items, self.times):
            digest.update(np.ascontiguousarray(column, dtype="<i8").data)
        return digest.hexdigest()

    def histories(self) -> Histories:
        """All users' events, flat; user and item codes are those of the log."""
        counts = np.bincount(self.users, minlength=self.num_users)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Histories(self.items, self.times, offsets, self.num_items, self.unit)

    def of_users(self, chosen: Int64Array) -> "Log":
        """Keep the events of some users, and number again the users and items that remain.

        Args:
            chosen: Codes of the users to keep, shape ``(kept,)``.
        """
        wanted = np.zeros(self.num_users, dtype=np.bool_)
        wanted[chosen] = True
        kept = wanted[self.users]
        users = settle(Coded(self.users[kept], self.user_ids))
        items = settle(Coded(self.items[kept], self.item_ids))
        return replace(
            self, users=users.codes, items=items.codes, times=self.times[kept], user_ids=users.values,
            item_ids=items.values,
        )  # fmt: skip

    def sample_users(self, n: int, seed: int = 0, least: int = 1) -> "Log":
        """Keep a random sample of users with all their events; the same seed draws the same users.

        Args:
            n: Number of users to keep.
            seed: Seed of the draw.
            least: Draw among users with at least so many events.

        Raises:
            InputError: There are not so many users, or none is asked for.
        """
        enough = np.flatnonzero(np.bincount(self.users, minlength=self.num_users) >= least)
        if not 1 <= n <= len(enough):
            raise InputError(
                f"{self.name}: a sample of {n} users: expected 1 to {len(enough)}, its number of users "
                f"with {least} events or more"
            )
        drawn = np.random.default_rng(seed).choice(enough, size=n, replace=False)
        return replace(self.of_users(drawn), name=f"{self.name}, sample of {n}")

    def describe(self) -> list[tuple[str, str]]:
        """What a person should see before trusting the log, as labels and values."""
        missing = f", {self.dropped:,} of them without a user or an item" if self.dropped else ""
        pairs = max(len(self) - self.num_users, 1)
        how = "as stated or by its type" if self.unit_stated else "inferred from the magnitude"
        return [
            ("log", self.name),
            ("rows read", f"{self.rows:,}{missing}"),
            ("events", f"{len(self):,}"),
            ("users", f"{self.num_users:,}"),
            ("items", f"{self.num_items:,}"),
            (
                "ties",
                f"{self.ties:,} ({self.ties / pairs:.1%} of neighbouring events, in the order of the rows)",
            ),
            ("span", self._span()),
            ("unit", f"{self.unit}, {how}"),
            ("zone", self.zone or "none named: times as they are in the source"),
        ]

    def _span(self) -> str:
        first, last = int(self.times.min()), int(self.times.max())
        days = (last - first) / ticks_per_second(self.unit) / _DAY
        return f"{np.datetime64(first, self.unit)} to {np.datetime64(last, self.unit)} ({days:,.1f} days)"
