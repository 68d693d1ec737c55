"""Periodic Gaussian profile as the ClockRoPE paper prints it, which no law realises."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, wofz

from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.certificate import Certificate, Verdict, Witness, quadratic_form
from rota.spectra.lattice import Lattice
from rota.types import Duration, Float64Array
from rota.units import Lag, lag_seconds, seconds

__all__ = ["PeriodicGaussian"]

_POINTS = 256  # of a witness's grid over one period
_VISIBLE = 1e-12  # of a quadratic form with weights of norm 1: above what float64 may invent
_LEAST = 1e-300  # a size that is still worth printing
_NARROWEST = 1e-7  # of the period


@dataclass(frozen=True)
class PeriodicGaussian(Kernel):
    """One Gaussian, cut at half a period and repeated: ``exp(-c^2 / (2 width^2))`` (ClockRoPE, Eq. 17).

    ``c`` is the lag's distance to the nearest multiple of the period. The kink half a period away keeps it
    from being positive definite at any width: its even Fourier coefficients turn negative from one on.
    `WrappedGaussian` is what the paper's law (Eq. 18) realises, and differs by at most ``f(period / 2)``.

    Attributes:
        period: ``"24h"``, seconds or a ``timedelta``; kept as seconds.
        width: Standard deviation of the peak, likewise.
    """

    period: Duration
    width: Duration

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", seconds(self.period))
        object.__setattr__(self, "width", seconds(self.width))

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        return np.asarray(np.exp(-0.5 * (centred(lag, seconds(self.period)) / seconds(self.width)) ** 2))

    def spectrum(self) -> Lattice:
        """None: some of what would be its masses are negative.

        Raises:
            InputError: Always; it names the first of them, and the remedy.
        """
        wrapped = str(self).replace("periodic_gaussian", "wrapped_gaussian")
        raise InputError(
            f"{self} is not positive definite, so it has no law: {self._first_negative_text()}; "
            f"use {wrapped}, whose law is Eq. 18 exactly, or project it"
        )

    def coefficient(self, harmonic: ArrayLike) -> Float64Array:
        """Fourier coefficient ``alpha_k`` of the profile (ClockRoPE, Eq. 14), its digits kept however small.

        A Gaussian less what the cut takes: ``sqrt(2 pi) sigma / T (exp(-b^2) - (-1)^k exp(-a^2) V)``, where
        ``a = T / (sqrt(8) sigma)``, ``b = sqrt(2) pi k sigma / T``, and ``V = Re w(b + i a) > 0``, w
        Faddeeva's function.

        Args:
            harmonic: Integers ``k``, any shape.

        Raises:
            InputError: A harmonic is not an integer.
        """
        k = np.abs(np.asarray(harmonic, np.float64))
        if np.any(np.mod(k, 1)):
            raise InputError("some harmonics are no integers: they count whole cycles in a period")
        a, b = self._edge, self._places(k)
        cut = np.where(np.mod(k, 2) == 0, -1.0, 1.0) * np.exp(-(a**2)) * wofz(b + 1j * a).real
        return np.asarray(self._height * np.where(k == 0, erf(a), np.exp(-(b**2)) + cut))

    def first_negative(self) -> tuple[int, float]:
        """The first harmonic whose coefficient is negative, and that coefficient.

        A value that float64 cannot hold (under 1e-308, for widths below 1.3 % of the period) is rounded down,
        to the negative number nearest to zero.

        Raises:
            InputError: The width is under 1e-7 of the period: float64 does not tell even harmonics from odd.
        """
        a = self._edge
        if seconds(self.width) < _NARROWEST * seconds(self.period):
            raise InputError(f"{self}: expected a width of at least {_NARROWEST:g} of the period")
        k = 2 * math.floor(a**2 / np.pi)  # here b <= a, so the Gaussian still exceeds what the cut takes
        while True:
            k += 2
            b = float(self._places(np.float64(k)))
            if math.exp((a - b) * (a + b)) <= wofz(b + 1j * a).real:
                return k, min(float(self.coefficient(k)), -math.ulp(0.0))

    def certificate(self) -> Certificate:
        """No, at any width; the witness is the first harmonic with a negative coefficient.

        It is a grid over one period, weighted by that harmonic's cosine. Where float64 cannot show the
        quadratic form to be negative, the witness has the kink as its point, no weights, and the coefficient.

        Raises:
            InputError: As `first_negative`.
        """
        reason = f"{self} is not positive definite: {self._first_negative_text()}"
        k, value = self.first_negative()
        points = max(_POINTS, 4 * k)
        if points * -value > _VISIBLE:
            count = np.arange(points, dtype=np.float64)
            weights = np.cos(2 * np.pi * np.mod(k * count, points) / points)
            weights /= np.linalg.norm(weights)
            seen = Witness(count * (seconds(self.period) / points), weights, math.nan)
            seen = replace(seen, value=quadratic_form(self, seen))
            return Certificate(Verdict.NO, reason, seen)
        reason += (
            "; its quadratic form is under what float64 can show: the witness is the kink and this value"
        )
        return Certificate(Verdict.NO, reason, Witness(np.array([seconds(self.period) / 2]), None, value))

    @property
    def _edge(self) -> float:
        return seconds(self.period) / (math.sqrt(8) * seconds(self.width))

    @property
    def _height(self) -> float:
        return math.sqrt(2 * np.pi) * seconds(self.width) / seconds(self.period)

    def _places(self, k: ArrayLike) -> Float64Array:
        return np.asarray(math.sqrt(2) * np.pi * seconds(self.width) / seconds(self.period) * np.asarray(k))

    def _first_negative_text(self) -> str:
        k, value = self.first_negative()
        size = f"{value:.2g}" if value < -_LEAST else f"negative, under {_LEAST:g} in size"
        return f"its Fourier coefficient of harmonic {k} is {size} (from the kink at half a period)"


def centred(lag: Lag, period: float) -> Float64Array:
    """Lag less the nearest multiple of the period, exact in float64; in ``[-period / 2, period / 2]``.

    Args:
        lag: Seconds, any shape.
        period: Seconds.
    """
    rest = np.fmod(lag_seconds(lag), period)  # exact, as is the difference of neighbours below
    return np.asarray(np.where(np.abs(rest) > period / 2, rest - np.copysign(period, rest), rest))
