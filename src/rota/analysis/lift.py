"""Lift: how much more often than by chance one user's events so far apart are of the same item."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rota.analysis.pair_counts import count_pairs, pairs_within, user_blocks
from rota.errors import InputError
from rota.types import Duration, Float64Array, Int64Array
from rota.units import seconds, ticks_per_second, whole_ticks

__all__: list[str] = ["Lift", "measure_lift", "resample_weights"]

MOST_PAIRS = 2_000_000_000
_GROUPS = 100
_MOST_COUNTS = 100_000_000  # groups x bins held in memory, three numbers each


@dataclass(frozen=True, eq=False)
class Lift:
    """What was counted of the pairs of one user's events, by the time between them.

    Attributes:
        lags: Centre of each bin in seconds, ``width``, ``2 * width``, ...; shape ``(bins,)``. A bin holds its
            lower edge. Pairs closer than half a bin, and so all at one time, belong to no lag.
        width: Of a bin, in seconds.
        same: Pairs of the same item (or category) in each bin, of each group of users; shape
            ``(groups, bins)``. Users are dealt to groups at random.
        pairs: All pairs, likewise.
        expected: What ``same`` would be on average if each user's items were dealt to his times at random.
        num_users: Users whose pairs were counted, each with two events or more.
        num_pairs: How many pairs that are.
        share: Of the users with two events or more that were counted; 1 means all: the count is exact.
    """

    lags: Float64Array
    width: float
    same: Int64Array
    pairs: Int64Array
    expected: Float64Array
    num_users: int
    num_pairs: int
    share: float

    @cached_property
    def value(self) -> Float64Array:
        """The lift of each bin: 1 is chance, NaN where nothing was expected; shape ``(bins,)``."""
        return _ratio(self.same.sum(axis=0).astype(np.float64), self.expected.sum(axis=0))

    def resampled(self, resamples: int, seed: int) -> Float64Array:
        """The lift of bootstrap samples of groups, which are groups of users; shape ``(resamples, bins)``.

        Args:
            resamples: How many samples.
            seed: Of the draw.
        """
        weights = resample_weights(len(self.same), resamples, seed)
        return _ratio(weights @ self.same.astype(np.float64), weights @ self.expected)

    def band(
        self, confidence: float, *, resamples: int = 400, seed: int = 0
    ) -> tuple[Float64Array, Float64Array]:
        """Bootstrap interval of each bin by itself, over users: percentiles; two arrays of shape ``(bins,)``.

        Args:
            confidence: Of each bin, such as 0.95.
            resamples: How many samples it is read off.
            seed: Of the draw.

        Raises:
            InputError: The confidence is not between 0 and 1.
        """
        if not 0 < confidence < 1:
            raise InputError(f"confidence {confidence!r} of a band: expected between 0 and 1, such as 0.95")
        with np.errstate(invalid="ignore"):
            ends = np.quantile(
                self.resampled(resamples, seed), [(1 - confidence) / 2, (1 + confidence) / 2], 0
            )
        return ends[0], ends[1]

    def coarser(self, times: int) -> "Lift":
        """The same pairs in bins so many times as wide; an odd number keeps centres and edges in step.

        The last bins are left out where they fill no wide one.

        Raises:
            InputError: The number is even, or there is no bin so wide.
        """
        # Wide bin K has its centre at K * times * width: narrow bins from K * times - half to + half.
        bins = (len(self.lags) - times // 2) // max(times, 1)
        if times < 1 or times % 2 == 0 or bins < 1:
            raise InputError(
                f"bins {times} times as wide: expected an odd number that {len(self.lags)} bins hold"
            )
        first = times - times // 2 - 1

        shape = (len(self.same), bins, times)
        inside = slice(first, first + bins * times)
        return Lift(
            lags=self.width * times * np.arange(1, bins + 1, dtype=np.float64),
            width=self.width * times,
            same=self.same[:, inside].reshape(shape).sum(axis=2),
            pairs=self.pairs[:, inside].reshape(shape).sum(axis=2),
            expected=self.expected[:, inside].reshape(shape).sum(axis=2),
            num_users=self.num_users,
            num_pairs=self.num_pairs,
            share=self.share,
        )


def resample_weights(groups: int, resamples: int, seed: int) -> Float64Array:
    """How often each group is in each bootstrap sample, shape ``(resamples, groups)``."""
    rng = np.random.default_rng(seed)
    drawn: Float64Array = rng.multinomial(groups, np.full(groups, 1 / groups), resamples).astype(np.float64)
    return drawn


def measure_lift(
    users_offsets: Int64Array,
    times: Int64Array,
    labels: Int64Array,
    *,
    unit: str = "s",
    width: Duration,
    longest: Duration,
    groups: int = _GROUPS,
    most_pairs: int = MOST_PAIRS,
    seed: int = 0,
    report: Callable[[int, int], None] = lambda _done, _total: None,
) -> Lift:
    """Count every pair (earlier, later) of one user's events up to ``longest`` apart, by lag.

    The chance of a pair to be of one item is exact: a user's items are dealt to his times without putting
    any back, ``sum n (n - 1) / (N (N - 1))`` over his items with ``n`` of his ``N`` events. So a log in which
    items do not depend on time has a lift of 1 on average at every lag, whatever hours users keep. With
    squared shares ``sum (n / N)**2``, which count each event as a pair with itself, it would be below 1 where
    users have few events: on check-ins of New York 2.23 instead of 2.30 at 24 h.

    Events are read in blocks of whole users, so that a mapped log is never held in memory; what is held is
    three numbers for each group and bin. The result does not depend on the number of threads.

    Args:
        users_offsets: User ``u`` owns rows ``users_offsets[u]`` up to ``users_offsets[u + 1]``; shape
            ``(users + 1,)``. The first need not be 0: rows before it are left out.
        times: Of each event, in ticks of ``unit``, shape ``(events,)``. A user's need not be in order.
        labels: Item or category of each event, shape ``(events,)``.
        unit: Unit of the times: s, ms, us or ns.
        width: Of a bin; a whole number of ticks, two at least.
        longest: Lags up to it are counted; at least ``width``.
        groups: Groups that users are dealt to; with fewer users each has his own.
        most_pairs: Where there are more, a random sample of users with so many; those who alone have more
            are in none.
        seed: Of the groups and the sample.
        report: Told of the pairs counted and of all to be counted.

    Raises:
        InputError: Arrays do not fit each other, no user has two events, bins are impossible, or there is
            not one user within ``most_pairs``.
    """
    _check(users_offsets, times, labels, groups, most_pairs)
    ticks, bins = whole_ticks(width, unit), int(seconds(longest) / seconds(width) + 1e-9)
    if not 1 <= bins <= _MOST_COUNTS // groups:
        raise InputError(
            f"lags up to {longest!r} in bins of {width!r} for {groups} groups: expected from 1 to "
            f"{_MOST_COUNTS // groups:,} bins; choose another width"
        )
    several = np.flatnonzero(np.diff(users_offsets) > 1)
    if not len(several):
        raise InputError(
            f"{len(users_offsets) - 1:,} users, none with two events: a lift needs pairs of one user"
        )
    reach = bins * ticks + (ticks - 1) // 2
    per_user = np.zeros(len(users_offsets) - 1, np.int64)
    for block in user_blocks(users_offsets, several, times, labels):
        per_user[block.users] = pairs_within(block, reach)
    rng = np.random.default_rng(seed)
    counted = _sampled(rng, several, per_user, most_pairs)
    groups = min(groups, len(counted))
    group = np.empty(len(per_user), np.int64)
    group[counted] = rng.permutation(len(counted)) % groups
    shape = (groups, bins)
    same, pairs, expected = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape)
    done, total = 0, int(per_user[counted].sum())
    for block in user_blocks(users_offsets, counted, times, labels):
        report(done, total)
        count_pairs(block, group[block.users], ticks, same, pairs, expected)
        done += int(per_user[block.users].sum())
    report(done, total)
    lags = np.arange(1, bins + 1) * ticks / ticks_per_second(unit)
    share = len(counted) / len(several)
    return Lift(lags, float(lags[0]), same, pairs, expected, len(counted), total, share)


def _check(offsets: Int64Array, times: Int64Array, labels: Int64Array, groups: int, most_pairs: int) -> None:
    fits = len(offsets) > 0 and offsets[0] >= 0 and bool(np.all(np.diff(offsets) >= 0))
    if not fits or offsets[-1] > len(times) or len(times) != len(labels):
        raise InputError(
            f"{len(times):,} times, {len(labels):,} labels and {len(offsets):,} offsets do not fit: "
            "expected a label for each time, and offsets that rise within them"
        )
    if min(groups, most_pairs) < 1:
        raise InputError(f"{groups} groups, {most_pairs} pairs at most: expected one at least of each")


def _sampled(
    rng: np.random.Generator, users: Int64Array, per_user: Int64Array, most_pairs: int
) -> Int64Array:
    """All users, or as many at random as have so many pairs together; in their own order."""
    if per_user[users].sum() <= most_pairs:
        return users
    fit = rng.permutation(users[per_user[users] <= most_pairs])
    drawn = np.sort(fit[: int(np.searchsorted(np.cumsum(per_user[fit]), most_pairs, side="right"))])
    if not len(drawn):
        raise InputError(
            f"no user has {most_pairs:,} pairs or fewer (the least is {per_user[users].min():,}): "
            "allow more pairs"
        )
    return np.asarray(drawn)


def _ratio(above: Float64Array, below: Float64Array) -> Float64Array:
    ratio: Float64Array = np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)
    return ratio
