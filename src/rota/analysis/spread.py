"""Spread: what other seeds would have drawn, so that one draw is not taken for the method."""

from dataclasses import dataclass

import numpy as np

from rota.frequencies.drawing import draw
from rota.frequencies.quality import realised_profile
from rota.spectra.base import Law
from rota.types import Float64Array

__all__ = ["Spread", "spread_over_seeds"]

_QUANTILES = (0.05, 0.95)
_MOST_SEEDS, _FEWEST_SEEDS = 100, 20
_WORK = 1e8  # cosines: some seconds
_HEADS = 256  # of each seed whose profiles are kept; heads are alike in distribution


@dataclass(frozen=True, eq=False)
class Spread:
    """Central 90 % over seeds.

    Attributes:
        seeds: How many: seeds 0, 1, ...
        head: Profile of a head, low and high at each lag, over seeds and 256 heads at most; shape
            ``(2, lags)``.
        mean: Mean profile of the heads, likewise over seeds.
        head_error: Root mean square error of a head over the lags, low and high.
        mean_error: Of the heads' mean, likewise.
    """

    seeds: int
    head: Float64Array
    mean: Float64Array
    head_error: tuple[float, float]
    mean_error: tuple[float, float]


def spread_over_seeds(
    law: Law, wanted: Float64Array, lags: Float64Array, *, pairs: int, heads: int, method: str
) -> Spread:
    """Draw with many seeds, and see how far the realised profiles lie apart.

    Args:
        law: That frequencies are drawn from.
        wanted: Profile that errors are measured from, at the lags.
        lags: Seconds, shape ``(lags,)``.
        pairs: Of a head.
        heads: Of a layer.
        method: As of `draw`.

    Raises:
        InputError: As of `draw`.
    """
    affordable = int(_WORK / (pairs * heads * len(lags)))
    seeds = min(max(affordable, _FEWEST_SEEDS), _MOST_SEEDS)
    each, mean = [], []
    for seed in range(seeds):
        realised = realised_profile(draw(law, pairs, heads, seed, method=method), lags)
        each.append(realised[:_HEADS])
        mean.append(realised.mean(axis=0))
    profiles, means = np.array(each), np.array(mean)
    return Spread(
        seeds,
        np.quantile(profiles.reshape(-1, len(lags)), _QUANTILES, axis=0),
        np.quantile(means, _QUANTILES, axis=0),
        _range(np.sqrt(((profiles - wanted) ** 2).mean(axis=-1)).ravel()),
        _range(np.sqrt(((means - wanted) ** 2).mean(axis=-1))),
    )


def _range(values: Float64Array) -> tuple[float, float]:
    low, high = np.quantile(values, _QUANTILES).tolist()
    return low, high
