"""Spline law: mass around the multiples of a small frequency, spread by cubic B-splines."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import elementwise

from rota.spectra.density import Density
from rota.spectra.waves import wave_sum
from rota.types import Float64Array, Int64Array

__all__ = ["spline_law"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_CYCLES = 4  # between two knots: beyond so many, integrating by parts loses no digits
_HEAVY = 4.0  # medians of the absolute frequency: a standard deviation beyond is that of where a tail was cut


def spline_law(period: float, harmonics: Int64Array, masses: Float64Array, sup_error: float = 0.0) -> Density:
    """Law whose profile is ``sinc(lag / period)^4 sum_j m_j cos(2 pi j lag / period)``.

    Each mass lies around ``+-j / period`` as the sum of four uniform draws ``1 / period`` wide does: the
    density is a cubic spline whose coefficients are the masses, so no negative value can occur.

    Args:
        period: Seconds.
        harmonics: Integers ``j >= 0``, ascending, shape ``(n,)``.
        masses: Of ``j`` and ``-j`` together, not negative, summing to one, shape ``(n,)``.
        sup_error: As the law's.
    """
    splines = _Splines(period, harmonics, masses)
    return Density(splines, splines.profile, splines.spread, splines.conjugate, sup_error=sup_error)


@dataclass(frozen=True, eq=False)
class _Splines:
    """The distribution; see `spline_law`."""

    period: float
    harmonics: Int64Array
    masses: Float64Array

    @cached_property
    def _coefficients(self) -> Float64Array:
        """Of every harmonic from ``-highest`` to ``highest``: half of the mass each; all of it at 0."""
        half = np.zeros(int(self.harmonics[-1]) + 1)
        half[self.harmonics] = np.where(self.harmonics == 0, 1.0, 0.5) * self.masses
        return np.concatenate([half[:0:-1], half])

    @cached_property
    def _density(self) -> BSpline:
        """Density over ``frequency * period``."""
        return _on_integers(self._coefficients)

    @property
    def _knots(self) -> Float64Array:
        """Of the density, where it is not zero."""
        highest = int(self.harmonics[-1])
        return np.arange(-highest - 2.0, highest + 3.0)

    @cached_property
    def _cumulative(self) -> BSpline:
        return self._density.antiderivative()  # sums from the left: precise in the lower tail

    @cached_property
    def _at_knots(self) -> Float64Array:
        return np.asarray(np.maximum.accumulate(self.cdf(self._knots / self.period)))

    def pdf(self, x: Float64Array) -> Float64Array:
        places = np.asarray(x, np.float64) * self.period
        inside = np.abs(places) < self._knots[-1]
        return np.where(inside, self._density(np.where(inside, places, 0.0)) * self.period, 0.0)

    def cdf(self, x: Float64Array) -> Float64Array:
        edge = self._knots[-1]
        places = np.clip(np.asarray(x, np.float64) * self.period, -edge, edge)
        return np.asarray(np.clip(self._cumulative(places), 0.0, 1.0))

    def ppf(self, q: Float64Array) -> Float64Array:
        wanted = np.asarray(q, np.float64).ravel()
        knots = self._knots
        right = np.clip(np.searchsorted(self._at_knots, wanted, side="left"), 1, len(knots) - 1)

        def excess(place: Float64Array, of: Float64Array) -> Float64Array:
            return np.asarray(self._cumulative(place) - of)

        # At a knot the value may be reached from either side, to rounding: look one interval around.
        lower, upper = knots[np.maximum(right - 2, 0)], knots[np.minimum(right + 1, len(knots) - 1)]
        below, above = excess(lower, wanted) < 0, excess(upper, wanted) > 0
        found = np.where(below, upper, lower)
        inside = below & above
        if inside.any():
            bracket = (lower[inside], upper[inside])
            tight = {"xatol": 0.0, "xrtol": 4e-16, "fatol": 0.0, "frtol": 0.0}
            found[inside] = elementwise.find_root(excess, bracket, args=(wanted[inside],), tolerances=tight).x
        return np.asarray(np.minimum(found, 0.0).reshape(np.shape(q)) / self.period)

    @property
    def spread(self) -> float:
        """Standard deviation, but not more than four medians of the absolute frequency."""
        deviation = np.sqrt(np.sum(self.masses * self.harmonics.astype(np.float64) ** 2) + 1 / 3)
        median = -float(self.ppf(np.asarray(0.25)))
        return float(min(deviation / self.period, _HEAVY * median))

    def profile(self, lag: Float64Array) -> Float64Array:
        return faded(np.cos, lag, self.period, self.harmonics, self.masses)

    def conjugate(self, lag: Float64Array) -> Float64Array:
        """Mean of ``sin(2 pi |xi| lag)``: splines from 2 on have one sign; those about 0 are integrated."""
        clear = self.harmonics >= 2
        total = faded(np.sin, lag, self.period, self.harmonics[clear], self.masses[clear])
        turns = np.abs(np.asarray(lag, np.float64) / self.period)
        return np.asarray(total + np.sign(lag) * self._near(turns.ravel()).reshape(turns.shape))

    def _near(self, turns: Float64Array) -> Float64Array:
        """Sine integral of the splines of harmonics -1, 0 and 1 from 0 on; shape ``(n,)``."""
        near = np.zeros(3)
        near[self.harmonics[self.harmonics < 2]] = self.masses[self.harmonics < 2]
        whole = _on_integers(np.array([near[1] / 2, near[0], near[1] / 2]))
        knots = np.arange(3)[:, None]
        nodes = (knots + (_NODES + 1) / 2).ravel()
        weights = np.tile(_WEIGHTS, 3) * whole(nodes)  # 2 for both signs, 1/2 for the length of a panel
        slow = np.minimum(turns, _CYCLES)
        values = np.sin(2 * np.pi * np.multiply.outer(slow, nodes)) @ weights
        far = turns > _CYCLES
        if far.any():
            values[far] = _by_parts(whole, turns[far])
        return np.asarray(values)


def faded(
    wave: np.ufunc, lag: Float64Array, period: float, harmonics: Int64Array, masses: Float64Array
) -> Float64Array:
    """``sinc(lag / period)^4 sum_j m_j wave(2 pi j lag / period)``; lag in seconds, any shape."""
    turns = np.asarray(lag, np.float64) / period
    rest = np.mod(turns, 1)  # before a harmonic multiplies the error
    return np.asarray(wave_sum(wave, rest, harmonics, masses) * np.sinc(turns) ** 4)


def _on_integers(coefficients: Float64Array) -> BSpline:
    """Sum of cubic B-splines centred at whole numbers, the middle one at 0; coefficients of odd length."""
    # Three zeros on either side: scipy's base interval then holds all of the sum.
    padded = np.pad(coefficients, 3)
    edge = (len(padded) + 3) / 2
    return BSpline(np.arange(-edge, edge + 1), padded, 3)


def _by_parts(density: BSpline, turns: Float64Array) -> Float64Array:
    """``2 integral of density(x) sin(2 pi x turns)`` over ``x > 0``, by parts until nothing is left.

    The third derivative of a cubic spline is constant between knots and jumps at them.
    """
    angle = 2 * np.pi * turns
    third = density.derivative(3)
    pieces = np.append(third([0.5, 1.5, 2.5]), 0.0)
    total = density(0.0) / angle - density.derivative(2)(0.0) / angle**3
    for knot, jump in enumerate(np.diff(pieces), start=1):
        total += jump * np.sin(angle * knot) / angle**4
    return np.asarray(2 * total)
