"""How many pairs an error needs: the tail bound of ClockRoPE (Prop. 3.2), and what is nearer the truth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from rota.errors import InputError
from rota.frequencies.expectation import pair_products
from rota.types import Float64Array

_LEAST_ERROR = 1e-6  # needs 1e13 pairs; below, the count says nothing


def tail_bound(error: ArrayLike, q: ArrayLike, k: ArrayLike) -> Float64Array:
    """Upper bound of the probability that a rotated ``q.k / pairs`` is off its mean by ``error`` or more.

    ``2 exp(-(pairs error)^2 / (2 sum_j (|q_j| |k_j|)^2))`` (Prop. 3.2, Eq. 13), or 1 where that is more. It
    holds at every lag, for any law, about that law's own mean (`expected_logit`), for independent draws
    (method ``"iid"``); draws that are spread evenly err less at lags of interest, but not at every lag.

    It says nothing of small errors: for unit pairs the bound is 1 up to ``sqrt(2 ln 2 / pairs)``, which is
    0.21 at 32 pairs. What it needs is the sum of ``(|q_j| |k_j|)^2``, as it is written; the sum of
    ``(q_j.k_j)^2``, of which the paper's text speaks, can be far smaller.

    Args:
        error: Positive; broadcasts with ``(...)``.
        q: Query, pairs interleaved, shape ``(..., 2 * pairs)``.
        k: Key, likewise.

    Raises:
        InputError: The error is not positive, or q and k do not have the same, even number of features.
    """
    off = np.asarray(error, np.float64)
    if not np.all(off > 0):
        raise InputError(f"error {off}: expected a positive number")
    sizes = np.abs(pair_products(q, k))
    spread = np.linalg.norm(sizes, axis=-1)
    # Where all products are zero the estimate is exactly zero: it is never off.
    ratio = np.divide(
        off * sizes.shape[-1], spread, out=np.full(np.broadcast(off, spread).shape, np.inf), where=spread > 0
    )
    return np.asarray(np.minimum(1.0, 2 * np.exp(-0.5 * np.minimum(ratio, 100.0) ** 2)))


@dataclass(frozen=True)
class PairsNeeded:
    """Numbers of pairs.

    Attributes:
        bound: That suffice for certain, by Prop. 3.2.
        normal: That suffice by the normal approximation, at the lag where the variance is largest.
    """

    bound: int
    normal: int


def pairs_needed(error: float, confidence: float, weights: Sequence[float] | None = None) -> PairsNeeded:
    """Independent pairs that keep the realised profile within ``error`` at a lag, with a probability.

    For 0.1 at 0.95 they are 738 by the bound and 385 by the normal approximation: more than a head has. Draws
    that are spread evenly need far fewer where pairs weigh about the same (`kernel_rmse`).

    Args:
        error: Of the profile, which is 1 at lag 0: of ``q.k`` after rotation over ``sum_j |q_j| |k_j|``; at
            least 1e-6.
        confidence: Probability, between 0 and 1.
        weights: Relative sizes ``|q_j| |k_j|`` of pairs; equal by default. Pairs of unequal sizes count as
            fewer: as ``(sum w)^2 / sum w^2`` in place of ``n``.

    Raises:
        InputError: The error is under 1e-6 or not finite, the confidence not between 0 and 1, or weights are
            negative or all zero.
    """
    if not (error >= _LEAST_ERROR and math.isfinite(error)):
        raise InputError(f"error {error}: expected a positive number, at least {_LEAST_ERROR:g}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence {confidence}: expected a probability between 0 and 1")
    sizes = np.ones(1) if weights is None else np.asarray(weights, np.float64)
    if sizes.ndim != 1 or not (np.isfinite(sizes).all() and np.all(sizes >= 0) and sizes.any()):
        raise InputError("weights of pairs: expected numbers that are not negative, and not all zero")
    shares = sizes / sizes.max()
    inflation = len(shares) * float(np.sum(shares**2)) / float(shares.sum()) ** 2
    by_bound = 2 * math.log(2 / (1 - confidence))
    # A cosine has variance of at most 1: that is where f(lag) is 0 and cosines are 1 and -1.
    by_normal = float(ndtri((1 - confidence) / 2)) ** 2  # of the lower tail, whose digits are kept
    bound, normal = (max(1, math.ceil(each * inflation / error / error)) for each in (by_bound, by_normal))
    return PairsNeeded(bound, normal)
