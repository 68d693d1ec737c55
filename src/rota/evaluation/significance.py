"""How sure a difference between two arms is."""

from typing import NamedTuple

import numpy as np

from rota.errors import InputError
from rota.types import Float64Array, Int64Array

__all__ = ["PairedDifference", "paired_difference"]

_CELLS = 2**18  # drawn users held at once: about what a processor's cache holds


class PairedDifference(NamedTuple):
    """Mean difference of an arm and its control over the same users, and its interval."""

    diff: float
    lo: float
    hi: float


def paired_difference(
    values: Float64Array,
    control: Float64Array,
    *,
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> PairedDifference:
    """Difference of two arms and its percentile bootstrap interval over users.

    Each user is compared with himself. The interval covers the choice of users, given the seeds that
    were trained: another sample of people would move the difference that far. It does not cover other
    training seeds (look at the spread over seeds), other splits, or other logs; and it is one interval, not
    corrected for the number of arms and metrics looked at. Under some thirty users it is too narrow.

    Args:
        values: A metric of each user, shape ``(users,)`` or ``(seeds, users)``; seeds are averaged first.
        control: The same users in the same order; its number of seeds may differ.
        resamples: Times that the users are drawn again.
        confidence: Share of the resampled means inside the interval.
        seed: Seed of the draws: the same users are drawn for every arm and metric.

    Returns:
        ``diff`` (values minus control), ``lo`` and ``hi``; all equal where every user differs by the same.

    Raises:
        InputError: The users do not match, are fewer than two, a value is not finite, or ``resamples`` or
            ``confidence`` is out of range.

    Source:
        Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.
    """
    mine, other = _by_user(values, "values"), _by_user(control, "control")
    if mine.shape != other.shape:
        raise InputError(
            f"values of {len(mine)} users, control of {len(other)}: expected the same users in both"
        )
    found = paired_differences((mine - other)[None], resamples=resamples, confidence=confidence, seed=seed)
    return found[0]


def paired_differences(
    differences: Float64Array, *, resamples: int = 10_000, confidence: float = 0.95, seed: int = 0
) -> list[PairedDifference]:
    """`paired_difference` of many pairs at once, and the same figures: the users are drawn once for all.

    Args:
        differences: A row for each pair, values minus control of each user, shape ``(rows, users)``.
        resamples: Times that the users are drawn again.
        confidence: Share of the resampled means inside the interval.
        seed: Seed of the draws.

    Raises:
        InputError: There are fewer than two users, a difference is not finite, or ``resamples`` or
            ``confidence`` is out of range.
    """
    _refuse(differences, resamples, confidence)
    diffs = differences.mean(axis=1)
    ends = np.stack([diffs, diffs])
    # Rounding of the mean over seeds is no difference between users.
    moving = np.ptp(differences, axis=1) > 1e-12
    if moving.any():
        means = _resampled_means(differences[moving], resamples, np.random.default_rng(seed))
        tail = (1 - confidence) / 2
        ends[:, moving] = np.quantile(means, [tail, 1 - tail], axis=1)
    return [PairedDifference(*map(float, row)) for row in zip(diffs, *ends, strict=True)]


def _resampled_means(differences: Float64Array, resamples: int, rng: np.random.Generator) -> Float64Array:
    """Mean of each row over users drawn with replacement, shape ``(rows, resamples)``.

    The differences are rounded to whole steps, so small that 53 bits just hold any sum: sums are exact in
    any order of a matrix product, and no figure depends on the rows beside it, the batch or the machine.
    """
    rows, users = differences.shape
    places = 53 - users.bit_length() - np.frexp(np.abs(differences).max(axis=1))[1]  # a step is 2^-places
    steps = np.rint(np.ldexp(differences, places[:, None])).T
    means = np.empty((rows, resamples))
    batch = max(8, _CELLS // users)  # at least 8: a product reads all steps again
    for first in range(0, resamples, batch):
        size = min(batch, resamples - first)
        sums = _times_drawn(rng.integers(0, users, (size, users))) @ steps
        means[:, first : first + size] = np.ldexp(sums.T, -places[:, None]) / users
    return means


def _times_drawn(drawn: Int64Array) -> Float64Array:
    """How often each user is in a row of users, same shape."""
    counts = np.empty(drawn.shape)
    for row, users in zip(counts, drawn, strict=True):
        row[:] = np.bincount(users, minlength=len(users))
    return counts


def _refuse(differences: Float64Array, resamples: int, confidence: float) -> None:
    if differences.ndim != 2 or differences.shape[1] < 2:
        raise InputError(
            f"differences of shape {differences.shape}: expected (rows, users), two users or more"
        )
    if not np.isfinite(differences).all():
        raise InputError(
            f"differences: expected finite numbers, got {differences[~np.isfinite(differences)][0]}"
        )
    if resamples < 1 or not 0 < confidence < 1:
        raise InputError(
            f"{resamples} resamples at confidence {confidence}: expected at least one, and a share below 1"
        )


def _by_user(values: Float64Array, what: str) -> Float64Array:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim not in (1, 2) or values.shape[-1] < 2 or not values.size:
        raise InputError(
            f"{what} of shape {values.shape}: expected (users,) or (seeds, users), at least two users"
        )
    if not np.isfinite(values).all():
        raise InputError(f"{what}: expected finite numbers, got {values[~np.isfinite(values)][0]}")
    return values if values.ndim == 1 else values.mean(axis=0)
