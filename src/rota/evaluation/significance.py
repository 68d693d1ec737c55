"""How sure a difference between two arms is."""

from typing import NamedTuple

import numpy as np
from scipy.stats import bootstrap

from rota.errors import InputError
from rota.types import Float64Array

_CELLS = 2**22  # resampled values held at once


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
        InputError: The users do not match, are fewer than two, or a value is not finite.

    Source:
        Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.
    """
    mine, other = _by_user(values, "values"), _by_user(control, "control")
    if mine.shape != other.shape:
        raise InputError(
            f"values of {len(mine)} users, control of {len(other)}: expected the same users in both"
        )
    differences = mine - other
    diff = float(differences.mean())
    if np.ptp(differences) <= 1e-12:  # rounding of the mean over seeds is no difference between users
        return PairedDifference(diff, diff, diff)
    interval = bootstrap(
        (differences,),
        np.mean,
        n_resamples=resamples,
        batch=max(1, _CELLS // len(differences)),
        vectorized=True,
        confidence_level=confidence,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return PairedDifference(diff, float(interval.low), float(interval.high))


def _by_user(values: Float64Array, what: str) -> Float64Array:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim not in (1, 2) or values.shape[-1] < 2 or not values.size:
        raise InputError(
            f"{what} of shape {values.shape}: expected (users,) or (seeds, users), at least two users"
        )
    if not np.isfinite(values).all():
        raise InputError(f"{what}: expected finite numbers, got {values[~np.isfinite(values)][0]}")
    return values if values.ndim == 1 else values.mean(axis=0)
