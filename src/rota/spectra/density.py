"""Density: a law without atoms; what profiles have that die away."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from rota.errors import InputError
from rota.spectra.base import Law, probabilities
from rota.spectra.integrals import conjugate_of, finite_transform, tail_transform
from rota.types import Complex128Array, Float64Array
from rota.units import lag_seconds

__all__ = ["Density", "Distribution"]

_LEAST = 2.0**-54  # a probability of 0 would be an infinite frequency
_CYCLES = 2.0**13  # up to a truncation, beyond which integrals are taken from the whole law
Profile = Callable[[Float64Array], Float64Array]


@runtime_checkable
class Distribution(Protocol):
    """A distribution of frequencies in cycles per second, symmetric about 0; ``scipy.stats`` has such."""

    def pdf(self, x: Float64Array) -> Float64Array:
        """Density at any frequency, any shape."""

    def cdf(self, x: Float64Array) -> Float64Array:
        """Cumulative probability; precise in the lower tail."""

    def ppf(self, q: Float64Array) -> Float64Array:
        """Quantile; asked for ``0 < q <= 1/2`` only."""


@dataclass(frozen=True, eq=False)
class Density(Law):
    """A symmetric law with a density, or its fold.

    Attributes:
        distribution: The symmetric law.
        profile: Its characteristic function, real and even; takes lags in seconds, any shape.
        spread: Scale of the absolute frequency in cycles per second: the standard deviation if there is one.
        conjugate: Mean of ``sin(2 pi |xi| lag)``, which folding brings; computed where there is no formula.
        folded: It is the law of the absolute frequency.
        mass_cut: Mass that truncations removed before the rest was renormalised.
        sup_error: Most by which truncations changed the profile, at any lag.
        peaks: Where it is not one hump about 0: width of its peaks, and the frequency of the last, both in
            cycles per second.
        made_of: Where it is the sum of a draw from atoms and one from a single hump: those two laws.
    """

    distribution: Distribution
    profile: Profile
    spread: float
    conjugate: Profile | None = None
    folded: bool = False
    mass_cut: float = 0.0
    sup_error: float = 0.0
    peaks: tuple[float, float] | None = None
    made_of: tuple[Law, "Density"] | None = None

    @property
    def scale(self) -> float:
        """Scale of the absolute frequency in cycles per second: ``spread``."""
        return self.spread

    @property
    def is_symmetric(self) -> bool:
        """Whether a frequency is as likely as its negative."""
        return not self.folded

    @property
    def is_folded(self) -> bool:
        """Whether no frequency is negative."""
        return self.folded

    def characteristic(self, lag: ArrayLike) -> Complex128Array:
        """Mean of ``exp(2j pi xi lag)``; lag in seconds, any shape."""
        lags = lag_seconds(lag)
        real = self.profile(lags)
        if not self.folded:
            return np.asarray(real, np.complex128)
        if self.conjugate is not None:
            return np.asarray(real + 1j * self.conjugate(lags))
        highest = -float(self.distribution.ppf(np.asarray(_LEAST)))
        odd = conjugate_of(self.profile, self.distribution.pdf, self.scale, highest, lags.ravel())
        return np.asarray(real + 1j * odd.reshape(lags.shape))

    def cdf(self, frequency: ArrayLike) -> Float64Array:
        """Probability of a frequency up to this one; cycles per second, any shape."""
        x = np.asarray(frequency, np.float64)
        if self.folded:
            return np.asarray(np.where(x >= 0, 1 - 2 * self.tail(x), 0.0))
        return np.asarray(np.where(x > 0, 1 - self.tail(x), self.tail(x)))

    def tail(self, frequency: ArrayLike) -> Float64Array:
        """Probability that the symmetric law exceeds an absolute frequency on one side; any shape."""
        return np.asarray(self.distribution.cdf(np.asarray(-np.abs(frequency))))

    def pdf(self, frequency: ArrayLike) -> Float64Array:
        """Density in seconds; frequency in cycles per second, any shape."""
        x = np.asarray(frequency, np.float64)
        values = self.distribution.pdf(x)
        return np.asarray(np.where(x >= 0, 2 * values, 0.0) if self.folded else values, np.float64)

    def mass_at(self, frequency: ArrayLike) -> Float64Array:
        """Zero everywhere: there are no atoms."""
        return np.zeros(np.shape(frequency))

    def quantile(self, probability: ArrayLike) -> Float64Array:
        """Quantile in cycles per second; probability in ``[0, 1)``, any shape; always finite."""
        p = probabilities(probability)
        if self.folded:
            return np.asarray(-self.distribution.ppf(np.asarray(np.maximum((1 - p) / 2, _LEAST))))
        lower = self.distribution.ppf(np.asarray(np.maximum(np.minimum(p, 1 - p), _LEAST)))
        return np.asarray(np.where(p > 0.5, -lower, lower))

    def negative_share(self, absolute: ArrayLike) -> Float64Array:
        """Probability that a frequency is negative, given its absolute value; any shape."""
        return np.full(np.shape(absolute), 0.0 if self.folded else 0.5)

    def sample(self, n: int, rng: np.random.Generator) -> Float64Array:
        """Draw ``n`` independent frequencies in cycles per second, shape ``(n,)``."""
        return self.quantile(rng.random(n))

    def fold(self) -> "Density":
        """Law of the absolute frequency (ClockRoPE, Eq. 20)."""
        return replace(self, folded=True)

    def truncate(self, s: float | None = None) -> "Density":
        """Keep frequencies up to ``s`` cycles per second in absolute value and renormalise.

        Args:
            s: Cycles per second; by default three times ``scale``. A heavy tail loses much there: Laplace's
                law a fifth of its mass.

        Raises:
            InputError: ``s`` leaves no mass.
        """
        highest = 3 * self.scale if s is None else float(s)
        mass = float(1 - 2 * self.tail(highest)) if highest > 0 else 0.0
        if not mass > 0:
            raise InputError(
                f"truncation at {highest:g} cycles per second leaves no mass: expected a larger s"
            )
        if mass == 1:
            return self
        cut = _Truncated(replace(self, folded=False), highest, mass)
        return replace(
            self,
            distribution=cut,
            profile=cut.profile,
            conjugate=cut.conjugate,
            spread=min(self.spread, highest),
            made_of=None,
            mass_cut=1 - (1 - self.mass_cut) * mass,
            sup_error=self.sup_error + _largest_change(self.profile, cut.profile, highest),
        )

    def rescale(self, factor: float) -> "Density":
        """Law of ``f(lag / factor)``."""
        conjugate, made = self.conjugate, self.made_of
        return replace(
            self,
            distribution=_Scaled(self.distribution, factor),
            profile=_Stretched(self.profile, factor),
            conjugate=None if conjugate is None else _Stretched(conjugate, factor),
            spread=self.spread / factor,
            peaks=None if self.peaks is None else (self.peaks[0] / factor, self.peaks[1] / factor),
            made_of=None if made is None else (made[0].rescale(factor), made[1].rescale(factor)),
        )


def _largest_change(before: Profile, after: Profile, highest: float) -> float:
    """Most by which two profiles differ, where the change is largest: within a few cycles of the cut."""
    first, last = 0.0, 16 / highest
    largest = 0.0
    for points in (513, 65, 65, 65):  # closer and closer about the largest so far
        lags = np.linspace(first, last, points)
        change = np.abs(after(lags) - before(lags))
        at, step = int(change.argmax()), (last - first) / (points - 1)
        first, last = max(lags[at] - step, 0.0), lags[at] + step
        largest = float(change[at])
    return largest


@dataclass(frozen=True, eq=False)
class _Truncated:
    """What is left of a symmetric law up to a frequency."""

    whole: Density
    highest: float
    mass: float

    def pdf(self, x: Float64Array) -> Float64Array:
        return np.asarray(np.where(np.abs(x) <= self.highest, self.whole.pdf(x) / self.mass, 0.0))

    def cdf(self, x: Float64Array) -> Float64Array:
        below = self.whole.cdf(np.clip(x, -self.highest, self.highest)) - self.whole.tail(self.highest)
        return np.asarray(np.clip(below / self.mass, 0.0, 1.0))

    def ppf(self, q: Float64Array) -> Float64Array:
        lower = self.whole.distribution.ppf(np.asarray(self.whole.tail(self.highest) + q * self.mass))
        return np.asarray(np.maximum(lower, -self.highest))

    def profile(self, lag: Float64Array) -> Float64Array:
        return self._transform(lag)[0]

    def conjugate(self, lag: Float64Array) -> Float64Array:
        return self._transform(lag)[1]

    def _transform(self, lag: Float64Array) -> tuple[Float64Array, Float64Array]:
        lags = np.asarray(lag, np.float64).ravel()
        cosine, sine = np.empty(lags.shape), np.empty(lags.shape)
        far = np.abs(lags) * self.highest > _CYCLES
        width, last = self.whole.peaks or (self.whole.scale, 0.0)
        cosine[~far], sine[~far] = finite_transform(self.pdf, self.highest, width, lags[~far], last)
        if far.any():  # the whole less its tail, of which little is left among so many cycles
            whole = self.whole.fold().characteristic(lags[far]) / self.mass
            over, beyond = tail_transform(self.pdf, self.highest, lags[far])
            cosine[far], sine[far] = whole.real - over, whole.imag - beyond
        return cosine.reshape(np.shape(lag)), sine.reshape(np.shape(lag))


@dataclass(frozen=True, eq=False)
class _Scaled:
    """A distribution whose frequencies are divided by a factor."""

    whole: Distribution
    factor: float

    def pdf(self, x: Float64Array) -> Float64Array:
        return np.asarray(self.whole.pdf(np.asarray(x * self.factor)) * self.factor)

    def cdf(self, x: Float64Array) -> Float64Array:
        return np.asarray(self.whole.cdf(np.asarray(x * self.factor)))

    def ppf(self, q: Float64Array) -> Float64Array:
        return np.asarray(self.whole.ppf(q) / self.factor)


@dataclass(frozen=True, eq=False)
class _Stretched:
    """A function of the lag, stretched by a factor."""

    of: Profile
    factor: float

    def __call__(self, lag: Float64Array) -> Float64Array:
        return np.asarray(self.of(np.asarray(lag / self.factor)))
