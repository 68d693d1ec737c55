"""Search for a witness: points and weights at which a profile's quadratic form is negative."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, toeplitz

from rota.kernels.certificate import Witness
from rota.types import Float64Array

__all__: list[str] = []

Profile = Callable[[Float64Array], Float64Array]

_FEW, _MANY = 128, 1024  # points of an even grid: least eigenvector, and waves of every frequency
_FINE = 8  # frequencies tried, per point of the grid
_STEPS = [2.0**power for power in range(-7, 31)]  # seconds between points: from 8 ms to 34 years
_PERIOD_POINTS = [2**power for power in range(9, 13)]  # of a grid over one period
_LOOKED_AT = 128  # lags by which a profile's rounding is judged
_ULP = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Found:
    """A witness and how much of its value rounding may have made.

    Attributes:
        witness: Of an even grid.
        rounding: Most by which its quadratic form may be off.
    """

    witness: Witness
    rounding: float

    @property
    def is_negative(self) -> bool:
        """Whether the quadratic form is below zero beyond rounding."""
        return self.witness.value < -self.rounding

    @property
    def clarity(self) -> float:
        """Value over rounding: the lower, the clearer."""
        return self.witness.value / self.rounding


def search(profile: Profile, steps: Sequence[float] = _STEPS) -> Found:
    """The clearest negative quadratic form on even grids of many steps; else the nearest to one.

    On each grid the weights are the least eigenvector of a small Gram matrix, and plain waves on a large one.

    Args:
        profile: Even, with ``f(0) = 1``; lags in seconds.
        steps: To try, in seconds.
    """
    return _evaluated(profile, min(_on_grids(profile, steps), key=lambda found: found.clarity))


def search_period(profile: Profile, period: float) -> Found:
    """The clearest negative quadratic form on even grids over one period.

    The Gram matrix of such a grid is circulant: its eigenvalues are the Fourier coefficients of the samples
    times their number, its eigenvectors waves. The first grid that shows a negative one is taken, and on it
    the first such harmonic.

    Args:
        profile: Even and periodic, with ``f(0) = 1``; lags in seconds.
        period: Seconds.
    """
    tried = []
    for count in _PERIOD_POINTS:
        samples = profile(np.arange(count) * (period / count))
        values = np.fft.rfft(samples).real
        rounding = count * rounding_of(profile, np.arange(count) * (period / count))
        clear = np.flatnonzero(values < -2 * rounding)
        at = int(clear[0]) if len(clear) else int(np.argmin(values))
        wave = Witness(np.arange(count) * (period / count), _wave(count, at / count), float(values[at]))
        tried.append(_evaluated(profile, Found(wave, rounding)))
        if tried[-1].is_negative:
            return tried[-1]
    return min(tried, key=lambda found: found.clarity)


def _on_grids(profile: Profile, steps: Sequence[float]) -> Iterator[Found]:
    """Candidates of each grid; their forms are of its lags from 0 on."""
    for step in steps:
        lags = np.arange(_MANY, dtype=np.float64) * step
        values, noise = profile(lags), rounding_of(profile, lags)
        least, vectors = eigh(toeplitz(values[:_FEW]), subset_by_index=[0, 0])
        yield Found(Witness(lags[:_FEW], vectors[:, 0], float(least[0])), _FEW * noise)
        # Of waves exp(2j pi x n) / sqrt(N) it is sum_d (1 - |d| / N) f(d step) cos(2 pi x d), d of any sign.
        faded = values * (1 - np.arange(_MANY) / _MANY)
        forms = 2 * np.fft.rfft(faded, _FINE * _MANY).real - values[0]
        at = int(np.argmin(forms))
        wave = _wave(_MANY, at / (_FINE * _MANY))
        yield Found(Witness(lags, wave, float(forms[at])), _MANY * noise)


def _wave(count: int, turns: float) -> Float64Array:
    """Cosine of unit norm, of so many turns from a point to the next.

    The form of the wave ``exp(2j pi turns n)`` is the sum of its cosine's and its sine's. The grid reads the
    same backwards, so a cosine about its middle and the sine there do not mix; a cosine is never all zero.
    """
    wave = np.cos(2 * np.pi * np.mod(turns * (np.arange(count) - (count - 1) / 2), 1))
    return np.asarray(wave / np.linalg.norm(wave))


def _evaluated(profile: Profile, found: Found) -> Found:
    """With the form as it is, of lags of both signs; of a wave's cosine or sine, the lower one."""
    seen = found.witness
    assert seen.weights is not None
    form = even_form(profile, float(seen.points[1]), seen.weights)
    return Found(Witness(seen.points, seen.weights, form), found.rounding)


def even_form(profile: Profile, step: float, weights: Float64Array) -> float:
    """Quadratic form on an even grid, as `quadratic_form` has it but with each lag evaluated once."""
    count = len(weights)
    lags = np.arange(1.0 - count, count) * step
    padded = np.fft.rfft(weights, 2 * count)
    together = np.asarray(np.fft.irfft(np.abs(padded) ** 2, 2 * count), np.float64)  # sum_i w_i w_(i + d)
    return float(profile(lags) @ together[np.abs(np.arange(1 - count, count))])


def rounding_of(profile: Profile, lags: Float64Array) -> float:
    """Error of the profile's values, as the next float64 lag shows it; a jump at a few lags is none."""
    # Between the grid's lags: on them a wave may be at its crests all the time, where rounding is not seen.
    some = lags[:: max(1, len(lags) // _LOOKED_AT)] + 0.381966 * lags[1]
    moved = np.abs(profile(np.nextafter(some, np.inf)) - profile(some))
    return 8 * _ULP + 8 * float(np.quantile(moved, 0.9))
