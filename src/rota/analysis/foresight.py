"""Foresight: how fast the harmonics of a law may be and still help to say what a user does next.

A lift says how sharply habits return, not how many events there are to learn one from. Where a user has few,
hardly any lies within a sharp peak, and a wider one, which borrows from the hours beside it, foresees more.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rota.kernels.base import Kernel
from rota.kernels.constant import Constant
from rota.kernels.harmonics import Harmonics
from rota.kernels.measured import Measured
from rota.kernels.weighted_sum import WeightedSum
from rota.types import BoolArray, Float64Array, Int64Array
from rota.units import seconds, ticks_per_second

__all__: list[str] = []

_TARGETS, _LONGEST, _FEWEST = 8000, 100, 5  # events foreseen at most; events looked back on, and the fewest
_BETAS = (2.0, 3.0, 4.0, 6.0, 8.0, 12.0)  # how much more an event weighs at f(0) than at 0, as a logarithm
_ELSEWHERE = 0.1  # of the probability is spread over all items
_NEARLY = 1e-9  # of a cycle
_DIGITS = 4  # of a share of f(0)


@dataclass(frozen=True)
class Hindsight:
    """Events that are to be foreseen, and what went before them.

    Attributes:
        lags: Seconds to each earlier event, shape ``(targets, events)``; NaN where there is none.
        same: Whether that was of the same item, likewise.
        users: Of each target, shape ``(targets,)``.
        num_items: Size of the catalogue.
    """

    lags: Float64Array
    same: BoolArray
    users: Int64Array
    num_items: int

    @classmethod
    def of(cls, offsets: Int64Array, times: Int64Array, items: Int64Array, unit: str) -> "Hindsight":
        """A sample of a log's events with five earlier ones, the same each time, and up to 100 of these.

        Args:
            offsets: Where each user's events begin, and the end; shape ``(users + 1,)``.
            times: Ticks of ``unit``, each user's in the order of his events; shape ``(events,)``.
            items: Likewise.
            unit: s, ms, us or ns.
        """
        users = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        before = np.arange(len(times)) - offsets[users]
        able = np.flatnonzero(before >= _FEWEST)
        chosen = np.sort(np.random.default_rng(0).permutation(able)[:_TARGETS])
        back = chosen[:, None] - np.arange(1, _LONGEST + 1)
        there = back >= offsets[users[chosen]][:, None]
        back = np.where(there, back, 0)
        lags = np.abs(times[chosen][:, None] - times[back]) / ticks_per_second(unit)  # wall clocks step back
        same = there & (items[back] == items[chosen][:, None])
        return cls(np.where(there, lags, np.nan), same, users[chosen], int(items.max(initial=0)) + 1)

    def surprise(self, profile: Float64Array) -> Float64Array:
        """Negative log likelihood of each target, shape ``(targets,)``, if earlier events are copied.

        One weighs by ``exp(beta f(lag))``, as in attention whose content says nothing, with the beta that
        tells all targets best.

        Args:
            profile: ``f`` at each lag, any number where there is none.
        """
        found = [self._surprise(beta * profile) for beta in _BETAS]
        return min(found, key=lambda each: float(each.mean()))

    def _surprise(self, logits: Float64Array) -> Float64Array:
        weights = np.exp(np.where(np.isnan(self.lags), -np.inf, logits))
        copied = (weights * self.same).sum(axis=1) / weights.sum(axis=1)
        return np.asarray(-np.log((1 - _ELSEWHERE) * copied + _ELSEWHERE / self.num_items))


def fastest_of_use(kernel: Measured, hindsight: Hindsight) -> float:
    """Cycle in seconds of the fastest harmonics that are worth having; those of faster ones are not.

    All harmonics down to a cycle are tried. Taken is the slowest whose surprise is within one standard error
    of the least, the error being that of the difference over users.

    Args:
        kernel: A law; infinity if nothing of it recurs.
        hindsight: With targets.
    """
    growing = list(_growing(kernel, np.nan_to_num(hindsight.lags)))
    if not growing:
        return np.inf
    if not len(hindsight.users):  # no one is there long enough to tell
        return growing[-1][0]
    surprises = [hindsight.surprise(profile) for _, profile in growing]
    best = min(surprises, key=lambda each: float(each.mean()))
    near = (each.mean() - best.mean() <= _error(each - best, hindsight.users) for each in surprises)
    return growing[next(place for place, is_near in enumerate(near) if is_near)][0]


def slowed(kernel: Measured, cycle: float) -> tuple[Measured, float, int]:
    """A law without the harmonics of faster cycles, the share of f(0) that is left, and how many are not.

    Args:
        kernel: The law.
        cycle: In seconds, of one of its harmonics, or faster than all.
    """
    slow = [
        (part, share * masses, period / np.maximum(numbers, 1) >= cycle * (1 - _NEARLY))
        for share, part in kernel.periodic
        for period, numbers, masses in [part.arrays()]
    ]
    dropped = sum(int((~kept).sum()) for _, _, kept in slow)
    if not dropped:
        return kernel, 1.0, 0
    left = 1 - float(sum(masses[~kept].sum() for _, masses, kept in slow))
    parts: list[tuple[Kernel, float]] = [(Constant(), kernel.static)] if kernel.static else []
    for part, masses, kept in slow:
        shares = np.round(masses / left, _DIGITS) * kept
        if shares.any():
            numbers = np.array(part.harmonics)[shares > 0].tolist()
            parts.append((Harmonics(part.period, numbers, shares[shares > 0].tolist()), shares.sum() * left))
    parts += [(part, share) for share, part in kernel.recency]
    rounded = [(part, round(share / left, _DIGITS)) for part, share in parts]
    seen = [(part, share) for part, share in rounded if share > 0]
    return Measured(WeightedSum(*zip(*seen, strict=True))), left, dropped


def _growing(kernel: Measured, lags: Float64Array) -> Iterator[tuple[float, Float64Array]]:
    """Profiles with ever faster harmonics, each with its fastest cycle, but for what stays at every lag."""
    waves = sorted(
        ((period / number, share * mass) for share, part in kernel.periodic
         for period, number, mass in _waves(part) if number), reverse=True,
    )  # fmt: skip
    profile, mass = np.zeros_like(lags), 0.0
    for share, part in kernel.recency:
        profile += share * np.exp(-lags / seconds(part.width))
        mass += share
    for place, (cycle, share) in enumerate(waves):
        profile += share * np.cos(2 * np.pi * np.mod(lags / cycle, 1.0))
        mass += share
        if place + 1 == len(waves) or waves[place + 1][0] < cycle * (1 - _NEARLY):
            yield cycle, profile / mass


def _waves(part: Harmonics) -> Iterator[tuple[float, int, float]]:
    period, numbers, masses = part.arrays()
    yield from (
        (period, number, mass) for number, mass in zip(numbers.tolist(), masses.tolist(), strict=True)
    )


def _error(differences: Float64Array, users: Int64Array) -> float:
    """Standard error of a mean over targets of which those of one user go together."""
    apart = np.bincount(users, weights=differences - differences.mean())
    return float(np.sqrt((apart**2).sum()) / len(differences))
