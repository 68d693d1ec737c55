"""Fourier and Hilbert integrals of a density or a profile, where no formula is known."""

import math
from collections.abc import Callable

import numpy as np

from rota.types import Float64Array

__all__: list[str] = []

Function = Callable[[Float64Array], Float64Array]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_NEGLIGIBLE = 1e-14
_LONG = 2.0**13  # scales of a profile beyond which it is not integrated
_LONGEST = 2.0**44  # scales of a profile at which the search for its end is given up


def finite_transform(
    pdf: Function, highest: float, scale: float, lag: Float64Array, busy: float = 0.0
) -> tuple[Float64Array, Float64Array]:
    """Integrals of ``2 pdf(x) cos(2 pi x lag)`` and of the sine from 0 to ``highest``; error ~1e-13.

    Args:
        pdf: A density, in seconds, smooth on the scale of its frequencies.
        highest: Cycles per second.
        scale: Finest of the density, in cycles per second.
        lag: Seconds, shape ``(n,)``; the work grows with the cycles in the range.
        busy: Frequency up to which the density has peaks as fine as that; beyond, it only falls.
    """
    cosine, sine = np.empty(len(lag)), np.empty(len(lag))
    octave = np.ceil(np.log2(np.maximum(np.abs(lag) * highest, 1.0)))
    for power in np.unique(octave).tolist():  # the density is evaluated once for all lags of an octave
        nodes, weights = _graded(highest, scale / 4, 2 * highest / 2.0**power, min(busy, highest), 2 * scale)
        mass = 2 * weights * pdf(nodes)
        for i in np.flatnonzero(octave == power).tolist():
            angle = 2 * np.pi * nodes * lag[i]
            cosine[i], sine[i] = mass @ np.cos(angle), mass @ np.sin(angle)
    return cosine, sine


def tail_transform(pdf: Function, start: float, lag: Float64Array) -> tuple[Float64Array, Float64Array]:
    """The same integrals from ``start`` to infinity, where many cycles lie before it: their first terms.

    With ``c`` cycles before the start the error is about ``pdf(start) start / (2 pi c)^2``.
    """
    omega, turn = 2 * np.pi * lag, 2 * np.pi * np.mod(start * lag, 1)
    first = 2 * float(pdf(np.asarray(start))) / omega
    return -first * np.sin(turn), first * np.cos(turn)


def conjugate_of(
    profile: Function, pdf: Function, scale: float, highest: float, lag: Float64Array
) -> Float64Array:
    """Mean of ``sin(2 pi |xi| lag)`` from the mean of the cosine, by a Hilbert transform; error ~1e-11.

    ``(1 / pi) int_0^inf (f(lag - s) - f(lag + s)) / s ds``, in the distance from lag 0, where profiles such
    as Laplace's have a kink. A profile that takes long to die away has a density that soon ends: then the
    mean of the sine itself is the easier integral.

    Args:
        profile: Characteristic function of a symmetric density: even, smooth but at lag 0.
        pdf: The density, in seconds.
        scale: Of the frequencies, in cycles per second.
        highest: Frequency above which next to nothing is left, in cycles per second.
        lag: Seconds, shape ``(n,)``.
    """
    reach = _reach(profile, 1 / scale)
    if reach * scale > _LONG:
        return finite_transform(pdf, highest, scale, lag)[1]
    return np.array([np.sign(one) * _hilbert(profile, abs(one), reach, scale) for one in lag.tolist()])


def averaging_nodes(count: int = 400) -> tuple[Float64Array, Float64Array]:
    """Probabilities in (0, 1/2) and weights that sum to 1/2: a tanh-sinh rule, exact to ~1e-14.

    A symmetric law's mean of ``g`` is their weighted sum of ``g(quantile) + g(-quantile)``, even where the
    quantile runs off to infinity.
    """
    step = 7.0 / count
    t = step * (np.arange(count) - count * 0.5 + 0.5)
    # p = 1 / (1 + exp(pi sinh t)): the lower tail is kept to full relative precision.
    p = 1 / (1 + np.exp(np.pi * np.sinh(t)))
    weights = step * np.pi * np.cosh(t) * p * (1 - p)
    below = p < 0.5
    return p[below], weights[below] / (2 * weights[below].sum())


def _hilbert(profile: Function, lag: float, reach: float, scale: float) -> float:
    if lag == 0:
        return 0.0
    finest = 1 / (4 * scale)
    u, weights = _graded(min(lag, reach), min(lag, finest) / 2, finest)
    total = float(weights @ ((profile(u) - profile(2 * lag - u)) / (lag - u)))
    u, weights = _graded(reach, min(lag, finest) / 2, finest)
    total += float(weights @ ((profile(u) - profile(2 * lag + u)) / (lag + u)))
    return total / np.pi


def _graded(
    end: float, first: float, widest: float, busy: float = 0.0, fine: float = math.inf
) -> tuple[Float64Array, Float64Array]:
    """Gauss-Legendre nodes and weights on panels of [0, end] that grow from 0 on, but not beyond a width.

    Up to ``busy`` they are not wider than ``fine`` either.
    """
    narrow = min(widest, fine) if busy > 0 else widest
    growing = min(first, narrow, end) * 2.0 ** np.arange(-30, 0)
    edges = [0.0, *growing.tolist()]
    while edges[-1] < end and edges[-1] < narrow:
        edges.append(2 * edges[-1])
    if edges[-1] < busy:
        edges += np.arange(edges[-1] + narrow, busy + narrow, narrow).tolist()
    while edges[-1] < end and edges[-1] < widest:
        edges.append(2 * edges[-1])
    even = np.arange(edges[-1] + widest, end, widest) if edges[-1] < end else np.zeros(0)
    ends = np.concatenate([np.array(edges), even])
    ends = np.append(ends[ends < end], end)
    half = (ends[1:] - ends[:-1])[:, None] / 2
    return (ends[:-1, None] + half * (_NODES + 1)).ravel(), (half * _WEIGHTS).ravel()


def _reach(profile: Function, scale: float) -> float:
    """Lag beyond which a profile is negligible."""
    octaves = scale * 2.0 ** np.arange(-2, np.log2(_LONGEST))
    within = np.linspace(1, 2, 64)
    largest = np.abs(profile(np.multiply.outer(octaves, within))).max(axis=1)
    seen = np.flatnonzero(largest > _NEGLIGIBLE)
    return float(2 * octaves[seen[-1]]) if len(seen) else float(octaves[0])
