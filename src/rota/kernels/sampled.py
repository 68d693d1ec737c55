"""Sampled profiles: their masses by a cosine transform, and sums of cosines at samples and between them."""

from collections.abc import Callable

import numpy as np
from scipy.fft import dct

from rota.errors import InputError
from rota.types import Float64Array, Int64Array

__all__: list[str] = []

Profile = Callable[[Float64Array], Float64Array]

_EPS = float(np.finfo(np.float64).eps)
_UNSEEN = 1e-3  # of what clipping changes anyway: highest masses below this share of it are left out


def even_samples(profile: Profile, lags: Float64Array) -> Float64Array:
    """Values at lags and at their negatives, shape ``(2, lags)``; their mean is the even part.

    Raises:
        InputError: One is not finite.
    """
    values = np.stack([profile(lags), profile(-lags)])
    if not np.isfinite(values).all():
        lag = lags[~np.isfinite(values).all(0)][0]
        raise InputError(f"the profile is not finite at a lag of {lag:g} s or {-lag:g} s")
    return values


def clipped(half_coefficients: Float64Array, points: int) -> Float64Array:
    """Masses of the harmonics 0 to ``points / 2``, of both signs together, from a cosine transform.

    Coefficients below what rounding leaves of nothing are zero; so are negative ones; the rest sums to 1.

    Args:
        half_coefficients: Of each harmonic, one sign; shape ``(points / 2 + 1,)``.
        points: Samples that they are of.

    Raises:
        InputError: None is positive.
    """
    masses = 2 * half_coefficients
    masses[[0, -1]] /= 2
    noise = 128 * _EPS * max(float(np.abs(masses).sum()), 1.0) / np.sqrt(points)
    masses[np.abs(masses) < noise] = 0.0
    negative = float(-masses[masses < 0].sum())
    masses = np.maximum(masses, 0.0)
    if not masses.sum() > 0:
        raise InputError("a profile with no positive Fourier coefficient: no attention profile is near it")
    from_above = np.cumsum(masses[::-1])[::-1]
    masses[from_above <= _UNSEEN * negative] = 0.0
    return np.asarray(masses / masses.sum())


def kept(masses: Float64Array) -> tuple[list[int], list[float]]:
    seen: Int64Array = np.flatnonzero(masses)
    return seen.tolist(), masses[seen].tolist()


def cosine_sums(masses: Float64Array) -> tuple[Float64Array, Float64Array]:
    """``sum_k m_k cos(2 pi k x)`` at ``x = j / N``, ``j`` from 0 to ``N / 2``, and halfway between those.

    Args:
        masses: Of the harmonics 0 to ``N / 2``.
    """
    halves = masses / 2
    halves[[0, -1]] = masses[[0, -1]]
    on_grid = dct(halves, type=1)
    # The last harmonic is 0 halfway between the samples.
    return np.asarray(on_grid), np.asarray(dct(np.concatenate([masses[:1], halves[1:-1]]), type=3))


def quarter_sums(masses: Float64Array) -> tuple[Float64Array, Float64Array]:
    """As `cosine_sums`, a quarter of a step after each sample but the last, and three quarters after it."""
    half = len(masses) - 1
    turned = masses * half * np.exp(0.25j * np.pi * np.arange(half + 1) / half)
    turned[[0, -1]] = 2 * turned[[0, -1]].real
    values = np.fft.irfft(turned, 2 * half)
    return np.asarray(values[:half]), np.asarray(values[: half - 1 : -1])
