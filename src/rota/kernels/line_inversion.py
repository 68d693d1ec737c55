"""Inversion on the line: of profiles that die away, whose laws have densities.

The density is a cubic spline over even frequencies. Its profile is a cosine sum times a sinc to the fourth
power, so samples divided by that power give the spline's coefficients by a cosine transform.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.fft import dct

from rota.kernels.evidence import probe_lags, scale_of
from rota.kernels.fading_harmonics import FadingHarmonics
from rota.kernels.inversion import ROUNDING, Inversion, between_samples, moment_bound
from rota.kernels.refining import largest_difference
from rota.kernels.sampled import clipped, cosine_sums, even_samples, kept
from rota.kernels.smoothness import Smoothness
from rota.kernels.tail_decay import TailDecay
from rota.types import Float64Array

__all__: list[str] = []

Profile = Callable[[Float64Array], Float64Array]

_NARROWEST, _COARSEST = 8.0, 4.0  # scales in the sampled range; samples in a scale
_FACTOR = 4.0  # from one range that is tried to the next
_THIN = 8  # of the samples' steps, beyond the range: nothing is expected there


def invert_on_line(
    profile: Profile, points: int, smoothness: Smoothness | None = None, tail: TailDecay | None = None
) -> Inversion:
    """Inversion of a profile that dies away, of several sampled ranges the one with the least error.

    Args:
        profile: Finite; lags in seconds.
        points: Samples, of positive and negative lags together, even.
        smoothness: The caller's word, needed for a bound.
        tail: Likewise.

    Raises:
        InputError: The profile does not die away, does not begin to fall, or has no positive mass.
    """
    scale = scale_of(profile)
    known = (smoothness, tail) if smoothness is not None and tail is not None else None
    most = points * scale / _COARSEST
    ranges = np.geomspace(
        _NARROWEST * scale, most, 1 + int(np.ceil(np.log(most / (_NARROWEST * scale)) / np.log(_FACTOR)))
    )
    found = [_over(profile, float(one), points, known) for one in ranges]
    best = min(found, key=lambda one: one.error if one.bound is None else one.bound)
    grid = _Grid(best.range, points)
    error = max(best.error, largest_difference(profile, grid.step, best.masses, grid.window))
    bound = None if best.bound is None else max(best.bound, error)
    return Inversion(FadingHarmonics(best.range, *kept(best.masses)), error, bound)


@dataclass(frozen=True)
class _Grid:
    """Samples over a range, each with the window that the splines bring."""

    range: float
    points: int

    @property
    def step(self) -> float:
        return self.range / self.points

    def window(self, places: Float64Array) -> Float64Array:
        """``sinc(lag / range)^4`` at places counted in steps."""
        return np.sinc(places / self.points) ** 4


@dataclass(frozen=True, eq=False)
class _Tried:
    """What came of one range."""

    range: float
    masses: Float64Array
    error: float
    bound: float | None


def _over(profile: Profile, length: float, points: int, known: tuple[Smoothness, TailDecay] | None) -> _Tried:
    grid, half = _Grid(length, points), points // 2
    places = np.arange(half + 1.0)
    samples = even_samples(profile, places * grid.step)
    masses = clipped(dct(samples.mean(0) / grid.window(places), type=1) / points, points)
    on_grid, between = cosine_sums(masses)
    apart = float(np.abs(samples - on_grid * grid.window(places)).max())
    middle = places[:-1] + 0.5
    error = float(np.abs(even_samples(profile, middle * grid.step) - between * grid.window(middle)).max())
    error = max(error, apart, _beyond(profile, grid, on_grid, between))
    bound = None
    if known is not None:
        bound = max(_bound(grid, masses, on_grid, apart, *known), error)
    return _Tried(length, masses, error, bound)


def _beyond(profile: Profile, grid: _Grid, on_grid: Float64Array, between: Float64Array) -> float:
    """Largest difference found beyond the sampled half range: up to three halves, then ever more sparsely."""
    half = grid.points // 2
    near = np.arange(half, 3.0 * half, _THIN)
    last = np.log10(probe_lags()[-1] / grid.step)
    far = np.floor(np.logspace(np.log10(3 * half), max(last, np.log10(3 * half)), 256))
    places = np.unique(np.concatenate([near, far]))
    # The cosine sum repeats after every range, and runs backwards in its second half.
    rest = np.mod(places, grid.points).astype(np.int64)
    sums = on_grid[np.minimum(rest, grid.points - rest)]
    apart = np.abs(even_samples(profile, places * grid.step) - sums * grid.window(places)).max()
    middle = near[:-1]
    rest = np.mod(middle, grid.points).astype(np.int64)
    sums = between[np.minimum(rest, grid.points - 1 - rest)]
    halfway = middle + 0.5
    off = np.abs(even_samples(profile, halfway * grid.step) - sums * grid.window(halfway)).max()
    return float(max(apart, off))


def _bound(
    grid: _Grid,
    masses: Float64Array,
    on_grid: Float64Array,
    apart: float,
    smoothness: Smoothness,
    tail: TailDecay,
) -> float:
    """Bound at every lag: between samples by the smoothness, beyond them by the tail.

    Beyond, the law's own profile is bounded too: its samples are at most those between a half and one range,
    for at the same place of a later range the window is smaller.
    """
    half, order = grid.points // 2, smoothness.order
    seen = np.flatnonzero(masses)
    spread = 2 / grid.range  # a spline reaches two steps of frequency to either side
    moment = moment_bound(seen / grid.range, masses[seen], order, spread)
    wide = smoothness.spread_of_samples()
    inside = wide * apart + between_samples(smoothness, grid.step, moment)
    start = half - order  # the nearest samples of every lag up to here are inside
    places = np.arange(start - order, grid.points + 1)
    sums = on_grid[np.minimum(places, grid.points - places)]
    largest = float(np.abs(sums * grid.window(places.astype(np.float64))).max())
    gap = smoothness.gap_constant() * grid.step**order * moment
    outside = tail.beyond(start * grid.step) + wide * largest + gap
    return max(inside, outside) + ROUNDING
