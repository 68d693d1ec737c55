"""Refining: the largest difference of a profile and a cosine sum, between the places that were sampled."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import binom

from rota.kernels.sampled import cosine_sums, even_samples, quarter_sums
from rota.types import Float64Array

__all__: list[str] = []

Profile = Callable[[Float64Array], Float64Array]

_NODES = 32  # for a sum with eight samples to its fastest wave: interpolated to 1e-14 in the middle cell
_OFFSETS = np.arange(_NODES) - (_NODES // 2 - 1)
_WEIGHTS = (-1.0) ** np.arange(_NODES) * binom(_NODES - 1, np.arange(_NODES)) / 2.0**_NODES
_PEAKS = 8  # that are looked at closely
_PARTS, _ZOOMS = (
    8,
    10,
)  # a zoom looks at the parts on either side of the best place: 1e-9 of a step in the end


def largest_difference(
    profile: Profile, step: float, masses: Float64Array, window: Profile | None = None
) -> float:
    """Sup over lags, in the sampled half range, of ``|profile - window sum_k m_k cos(2 pi k lag / range)|``.

    Sampled at every quarter of a step; then ever more closely around the largest differences, so that a
    smooth peak between samples is found, and at a jump the limit on either side.

    Args:
        profile: Finite; lags in seconds.
        step: Between samples, in seconds.
        masses: Of the harmonics 0 to ``N / 2`` of the range of ``N`` steps.
        window: What stands before the sum, of places counted in steps; 1 by default.

    Raises:
        InputError: A value is not finite.
    """
    sums = _Sums(_at_quarters(masses))

    def apart(quarters: Float64Array, values: Float64Array) -> Float64Array:
        places = quarters / 4
        realised = values if window is None else values * window(places)
        return np.asarray(np.abs(even_samples(profile, places * step) - realised).max(0))

    sampled = apart(np.arange(len(sums.values), dtype=np.float64), sums.values)
    best, around = float(sampled.max()), _peaks(sampled).astype(np.float64)
    rows, width = np.arange(len(around)), 1.0
    for _ in range(_ZOOMS):
        closer = np.abs(around[:, None] + np.linspace(-width, width, 2 * _PARTS + 1))  # both are even
        found = apart(closer.ravel(), sums(closer.ravel())).reshape(closer.shape)
        best = max(best, float(found.max()))
        around, width = closer[rows, found.argmax(1)], width / _PARTS
    return best


def _at_quarters(masses: Float64Array) -> Float64Array:
    """The sum at every quarter of a step from 0 to half of the range, shape ``(2 N + 1,)``."""
    on_grid, between = cosine_sums(masses)
    first, third = quarter_sums(masses)
    inside = np.stack([on_grid[:-1], first, between, third], axis=1)
    return np.concatenate([inside.ravel(), on_grid[-1:]])


def _peaks(values: Float64Array) -> np.ndarray:
    """Where the largest of the values lie that are not below their neighbours."""
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    places = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
    return places[np.argsort(-values[places], kind="stable")[:_PEAKS]]


@dataclass(frozen=True, eq=False)
class _Sums:
    """A cosine sum between the quarters of a step at which it is known, by a polynomial through 32 of them.

    Attributes:
        values: From 0 to half of the range, about both of which the sum is even.
    """

    values: Float64Array

    def __call__(self, quarters: Float64Array) -> Float64Array:
        below = np.floor(quarters)
        away = (quarters - below)[:, None] - _OFFSETS
        hit = away == 0
        pulls = np.where(hit.any(1, keepdims=True), hit, _WEIGHTS / np.where(hit, 1.0, away))
        whole = 2 * (len(self.values) - 1)
        nodes = np.mod(below[:, None].astype(np.int64) + _OFFSETS, whole)
        known = self.values[np.minimum(nodes, whole - nodes)]
        return np.asarray((pulls * known).sum(1) / pulls.sum(1))
