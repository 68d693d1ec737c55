"""Pairs of one user's events, counted by lag: block by block of users, on all cores where numba is."""

import importlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count

import numpy as np

from rota.histories import flat_rows
from rota.rotary import native
from rota.types import Float64Array, Int64Array

__all__: list[str] = []

_BLOCK = 1_000_000  # events of a block, whole users; one who has more is a block by himself


@dataclass(frozen=True, eq=False)
class UserBlock:
    """Events of some users, each one's in the order of time.

    Attributes:
        users: Who they are, shape ``(users,)``.
        offsets: Place of each one's events in the block, shape ``(users + 1,)``.
        times: Ticks, shape ``(events,)``.
        labels: Items or categories, shape ``(events,)``.
    """

    users: Int64Array
    offsets: Int64Array
    times: Int64Array
    labels: Int64Array

    @property
    def owner(self) -> Int64Array:
        """Place in ``users`` of who each event belongs to, shape ``(events,)``."""
        return np.repeat(np.arange(len(self.users)), np.diff(self.offsets))

    def chance(self) -> Float64Array:
        """Of two of a user's events to be of one item: ``sum n (n - 1) / (N (N - 1))`` by user."""
        owner, sizes = self.owner, np.diff(self.offsets).astype(np.float64)
        order = np.lexsort((self.labels, owner))
        label, own = self.labels[order], owner[order]
        first = np.flatnonzero(np.r_[True, (label[1:] != label[:-1]) | (own[1:] != own[:-1])])
        times = np.diff(np.r_[first, len(label)]).astype(np.float64)
        together = np.bincount(own[first], weights=times * (times - 1), minlength=len(self.users))
        return np.asarray(together / np.maximum(sizes * (sizes - 1), 1))


def user_blocks(
    offsets: Int64Array, users: Int64Array, times: Int64Array, labels: Int64Array
) -> Iterator[UserBlock]:
    """Blocks of whole users, read one after another.

    Args:
        offsets: Of all users, shape ``(all + 1,)``.
        users: Who is wanted, rising, shape ``(users,)``.
        times: Of all events; they may be mapped from a disk.
        labels: Likewise.
    """
    sizes = np.diff(offsets)[users]
    number = (np.cumsum(sizes) - sizes) // _BLOCK  # in which block each begins
    for some in np.split(users, np.flatnonzero(np.diff(number)) + 1):
        rows = flat_rows(offsets[some], offsets[some + 1])
        own = np.r_[0, np.cumsum(np.diff(offsets)[some])].astype(np.int64)
        block = UserBlock(some, own, np.asarray(times[rows]), np.asarray(labels[rows]))
        yield _in_order(block)


def _in_order(block: UserBlock) -> UserBlock:
    """On a wall clock times step back where summer time ends."""
    back = np.diff(block.times) < 0
    back[block.offsets[1:-1] - 1] = False
    if not back.any():
        return block
    order = np.lexsort((block.times, block.owner))
    return UserBlock(block.users, block.offsets, block.times[order], block.labels[order])


def pairs_within(block: UserBlock, reach: int) -> Int64Array:
    """How many pairs each user has whose times differ by ``reach`` ticks at most, shape ``(users,)``."""
    found = np.empty(len(block.users), np.int64)
    for place, (begin, end) in enumerate(zip(block.offsets[:-1], block.offsets[1:], strict=True)):
        own = block.times[begin:end]
        found[place] = (np.searchsorted(own, own + reach, side="right") - np.arange(1, len(own) + 1)).sum()
    return found


def count_pairs(
    block: UserBlock,
    group: Int64Array,
    width: int,
    same: Int64Array,
    pairs: Int64Array,
    expected: Float64Array,
) -> None:
    """Add the pairs of a block to what was counted: bin ``k`` is centred on ``k + 1`` widths.

    Args:
        block: The users.
        group: Of each, shape ``(users,)``.
        width: Ticks of a bin.
        same: Pairs of one item, shape ``(groups, bins)``; added to.
        pairs: All pairs; added to.
        expected: Sums of the users' chances; added to.
    """
    if not native.available():
        count_plainly(block, group, width, same, pairs, expected)
        return
    compiled = importlib.import_module("rota.analysis._pair_loop").add_pairs
    threads = min(os.cpu_count() or 1, len(same))
    parts = (block.times, block.labels, block.offsets, group, block.chance(), width, same, pairs, expected)
    with ThreadPoolExecutor(threads) as pool:  # each adds to groups of its own
        list(pool.map(lambda thread: compiled(*parts, thread, threads), range(threads)))


def count_plainly(
    block: UserBlock,
    group: Int64Array,
    width: int,
    same: Int64Array,
    pairs: Int64Array,
    expected: Float64Array,
) -> None:
    """`count_pairs` by numpy alone: pairs of neighbours, then of those two apart, and so on."""
    bins = same.shape[1]
    reach, owner, chance = bins * width + (width - 1) // 2, block.owner, block.chance()
    at = np.arange(len(block.times))
    for step in count(1):
        at = at[at + step < block.offsets[1:][owner[at]]]
        gap = block.times[at + step] - block.times[at]
        at, gap = at[gap <= reach], gap[gap <= reach]
        if not len(at):
            return
        place = (2 * gap + width) // (2 * width) - 1
        earlier, place = at[place >= 0], place[place >= 0]
        where = group[owner[earlier]] * bins + place
        np.add.at(pairs.reshape(-1), where, 1)
        np.add.at(expected.reshape(-1), where, chance[owner[earlier]])
        alike = block.labels[earlier] == block.labels[earlier + step]
        np.add.at(same.reshape(-1), where[alike], 1)
