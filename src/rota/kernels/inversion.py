"""Inversion: the law of a profile that is known by its values alone, and how well it realises them.

The profile is sampled at even steps, a cosine transform of the samples gives masses, negative ones are set
to zero, and the rest is divided by its total. What comes of it is a law's profile exactly, so the error is a
plain comparison of two functions, and the caller's bounds make it rigorous (see `Smoothness`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.fft import dct

from rota.kernels.fading_harmonics import FadingHarmonics
from rota.kernels.harmonics import Harmonics
from rota.kernels.refining import largest_difference
from rota.kernels.sampled import clipped, cosine_sums, even_samples, kept
from rota.kernels.smoothness import Smoothness
from rota.spectra.density import Density
from rota.spectra.lattice import Lattice
from rota.types import Float64Array

__all__ = ["Inversion"]

Profile = Callable[[Float64Array], Float64Array]

ROUNDING = 1e-12  # of a profile's value as float64 has it: added to every bound
_AWAY = (1, -2, 7, 30)  # periods away at which a periodic profile is compared again


@dataclass(frozen=True, eq=False)
class Inversion:
    """The nearest law to a profile by clipping and renormalising, and how near it is.

    Attributes:
        kernel: The profile that the law realises; admissible.
        error: Largest difference to the profile that was found: at the samples, at quarters of the way
            from each to the next, ever closer around the largest, and at some lags far beyond their range.
        bound: Upper bound on it at every lag, where the caller's word allows one; else ``None``.
    """

    kernel: Harmonics | FadingHarmonics
    error: float
    bound: float | None

    @property
    def law(self) -> Lattice | Density:
        """The law; its ``sup_error`` is the bound, or where there is none, the error found."""
        return replace(self.kernel.spectrum(), sup_error=self.error if self.bound is None else self.bound)


def invert_periodic(
    profile: Profile, period: float, points: int, smoothness: Smoothness | None = None
) -> Inversion:
    """Inversion of a periodic profile: masses on the harmonics of its period.

    Args:
        profile: Finite; lags in seconds.
        period: Seconds.
        points: Samples of one period, even.
        smoothness: The caller's word.

    Raises:
        InputError: No mass is positive.
    """
    half = points // 2
    lags = np.arange(half + 1.0) * (period / points)
    samples = even_samples(profile, lags)
    masses = clipped(dct(samples.mean(0), type=1) / points, points)
    on_grid, _ = cosine_sums(masses)
    apart = np.abs(samples - on_grid).max()
    error = max(apart, largest_difference(profile, period / points, masses))
    some = slice(0, half + 1, max(1, half // 512))
    for count in _AWAY:
        again = even_samples(profile, lags[some] + count * period)
        error = max(error, np.abs(again - on_grid[some]).max())
    bound = None
    if smoothness is not None:
        seen = np.flatnonzero(masses)
        bound = apart * smoothness.spread_of_samples() + ROUNDING
        bound += between_samples(
            smoothness, period / points, moment_bound(seen / period, masses[seen], smoothness.order)
        )
        bound = max(bound, float(error))
    return Inversion(Harmonics(period, *kept(masses)), float(error), bound)


def moment_bound(frequencies: Float64Array, masses: Float64Array, order: int, spread: float = 0.0) -> float:
    """Bound on ``E|2 pi xi|^order``, xi near the frequencies by at most ``spread`` (Minkowski)."""
    highest = max(float(np.abs(frequencies).max()), spread)
    if not highest > 0:
        return 0.0
    mean = float(np.sum(masses * np.abs(frequencies / highest) ** order)) ** (1 / order)
    return float((2 * np.pi * (highest * mean + spread)) ** order)


def between_samples(smoothness: Smoothness, step: float, moment: float) -> float:
    """Most by which profile and law can part between samples; see `Smoothness`."""
    return float(smoothness.gap_constant() * step**smoothness.order * (smoothness.bound + moment))
