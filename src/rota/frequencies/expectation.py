"""What rotation by frequencies of a law makes of a product on average (ClockRoPE, Prop. 3.1)."""

import numpy as np
from numpy.typing import ArrayLike

from rota.errors import InputError
from rota.spectra.base import Law
from rota.types import Complex128Array, Float64Array

__all__ = ["expected_logit"]


def expected_logit(q: ArrayLike, k: ArrayLike, lag: ArrayLike, law: Law) -> Float64Array:
    """Exact mean of ``q.k`` after both are rotated, over draws of the frequencies.

    It is ``q.k f(lag) - (q x k) f~(lag)``: ``f`` is the profile of the law, ``f~`` its conjugate, the mean of
    ``sin(2 pi xi lag)``, and ``q x k`` the sum over pairs of ``q_1 k_0 - q_0 k_1``. A symmetric law has no
    ``f~``, which leaves Prop. 3.1 (Eq. 5). A folded one has, and the propositions do not speak of it: with
    24 h and 2 h ``f~`` reaches 0.587, at a lag of 2.55 h, where ``f`` is 0.443.

    The mean is the same for every method of `draw`. It is not divided by ``sqrt(head_dim)``.

    Args:
        q: Query before rotation, pairs interleaved ``(2j, 2j + 1)``, shape ``(..., 2 * pairs)``.
        k: Key before rotation, likewise; the two broadcast.
        lag: Query's time minus key's, in seconds; broadcasts with ``(...)``.
        law: From which the frequencies are drawn: folded and truncated as the encoding has it.

    Raises:
        InputError: q and k do not have the same, even number of features.
    """
    products = pair_products(q, k).sum(-1)
    # Re[(q k*) E exp(2j pi xi lag)], with q and k as complex numbers (ClockRoPE, Eq. 9).
    return np.asarray((products * law.characteristic(lag)).real)


def pair_products(q: ArrayLike, k: ArrayLike) -> Complex128Array:
    """``q.k + i (q x k)`` of each pair, shape ``(..., pairs)``: as complex numbers, q times k's conjugate.

    Args:
        q: Pairs interleaved, shape ``(..., 2 * pairs)``.
        k: Likewise.

    Raises:
        InputError: q and k do not have the same, even number of features.
    """
    query, key = np.asarray(q, np.float64), np.asarray(k, np.float64)
    sizes = query.shape[-1:], key.shape[-1:]
    if sizes[0] != sizes[1] or not sizes[0] or not sizes[0][0] or sizes[0][0] % 2:
        raise InputError(
            f"query of shape {query.shape} and key of shape {key.shape}: expected last axes of one even size"
        )
    return np.asarray((query[..., ::2] + 1j * query[..., 1::2]) * (key[..., ::2] - 1j * key[..., 1::2]))
