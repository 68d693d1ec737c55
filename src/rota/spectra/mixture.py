"""Mixture: each frequency comes from one of several laws; what a weighted sum of profiles has."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from rota.errors import InputError
from rota.spectra.atoms import Atoms
from rota.spectra.base import Law, probabilities
from rota.spectra.density import Density
from rota.spectra.discrete import Discrete
from rota.spectra.lattice import Lattice
from rota.spectra.merging import merge
from rota.spectra.roots import SurvivalInverse
from rota.types import Complex128Array, Float64Array

_NO_ATOM = 2.0**-54  # survival at which a quantile is cut off: finite, and float64 cannot tell it from 0


@dataclass(frozen=True, eq=False)
class Mixture(Law):
    """Laws with weights; atoms and densities may stand beside each other.

    Attributes:
        laws: The parts; a part that is a mixture is replaced by its own parts.
        weights: Their probabilities, positive, summing to one, shape ``(n,)``.
        cut_at_once: Mass that truncating all parts at one frequency removed, where that was done.
        error_at_once: Most by which it changed the profile.

    Raises:
        InputError: Weights are not such, or a density stands beside a law that is neither symmetric nor
            folded as it is.
    """

    laws: Sequence[Law]
    weights: Float64Array
    cut_at_once: float | None = None
    error_at_once: float | None = None

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, np.float64)
        if weights.shape != (len(self.laws),) or not len(self.laws):
            raise InputError(
                f"{len(self.laws)} laws with weights of shape {weights.shape}: one for each is needed"
            )
        if not (np.all(weights > 0) and abs(math.fsum(weights) - 1) <= 1e-9):
            raise InputError(
                f"weights {weights.tolist()} of a mixture: expected positive numbers that sum to 1"
            )
        flat = [
            (part, weight * inner)
            for law, weight in zip(self.laws, weights.tolist(), strict=True)
            for part, inner in (
                zip(law.laws, law.weights.tolist(), strict=True) if isinstance(law, Mixture) else [(law, 1.0)]
            )
        ]
        object.__setattr__(self, "laws", tuple(part for part, _ in flat))
        object.__setattr__(self, "weights", np.array([weight for _, weight in flat]))
        if self._densities and not (self.is_symmetric or self.is_folded):
            raise InputError("a mixture with a density: expected parts that are all symmetric, or all folded")

    @property
    def _densities(self) -> list[tuple[Density, float]]:
        pairs = zip(self.laws, self.weights.tolist(), strict=True)
        return [(law, weight) for law, weight in pairs if isinstance(law, Density)]

    @cached_property
    def _atoms(self) -> tuple[Lattice | Atoms | None, float]:
        """What has atoms as one law, and its share of the mass."""
        pairs = zip(self.laws, self.weights.tolist(), strict=True)
        parts = [(law, weight) for law, weight in pairs if isinstance(law, Discrete)]
        if not parts:
            return None, 0.0
        share = math.fsum(weight for _, weight in parts)
        return merge([law for law, _ in parts], [weight / share for _, weight in parts]), share

    def merged(self) -> Law:
        """One `Lattice` where all parts are lattices whose periods have a common multiple in reach.

        Else one `Atoms` where all are discrete, or the mixture itself.
        """
        atoms, _ = self._atoms
        return self if atoms is None or self._densities else atoms

    @property
    def mass_cut(self) -> float:
        """Mass that truncations removed, over the parts."""
        if self.cut_at_once is not None:
            return self.cut_at_once
        return math.fsum(w * law.mass_cut for law, w in zip(self.laws, self.weights, strict=True))

    @property
    def sup_error(self) -> float:
        """Most by which truncations changed the profile, at any lag: the parts' own, weighted."""
        if self.error_at_once is not None:
            return self.error_at_once
        return math.fsum(w * law.sup_error for law, w in zip(self.laws, self.weights, strict=True))

    @property
    def scale(self) -> float:
        """Root mean square of the parts' scales, in cycles per second."""
        return math.sqrt(math.fsum(w * law.scale**2 for law, w in zip(self.laws, self.weights, strict=True)))

    @property
    def is_symmetric(self) -> bool:
        """Whether a frequency is as likely as its negative."""
        return all(law.is_symmetric for law in self.laws)

    @property
    def is_folded(self) -> bool:
        """Whether no frequency is negative."""
        return all(law.is_folded for law in self.laws)

    def characteristic(self, lag: ArrayLike) -> Complex128Array:
        """Mean of ``exp(2j pi xi lag)``; lag in seconds, any shape."""
        parts = [w * law.characteristic(lag) for law, w in zip(self.laws, self.weights, strict=True)]
        return np.asarray(sum(parts), np.complex128)

    def cdf(self, frequency: ArrayLike) -> Float64Array:
        """Probability of a frequency up to this one; cycles per second, any shape."""
        atoms, share = self._atoms
        values = np.zeros(np.shape(frequency)) if atoms is None else share * atoms.cdf(frequency)
        return np.asarray(sum((w * law.cdf(frequency) for law, w in self._densities), values))

    def pdf(self, frequency: ArrayLike) -> Float64Array:
        """Density of the parts that have one, in seconds; any shape."""
        return np.asarray(
            sum((w * law.pdf(frequency) for law, w in self._densities), np.zeros(np.shape(frequency)))
        )

    def pmf(self, harmonic: ArrayLike) -> Float64Array:
        """Probability of a harmonic of the parts' common period (that of `merged`); any shape of integers.

        Raises:
            InputError: The parts are not lattices with a common period, or a harmonic is not an integer.
        """
        merged = self.merged()
        if not isinstance(merged, Lattice):
            raise InputError(
                "a mixture has harmonics where all its parts are lattices with a common period: use pdf and "
                "mass_at, which take frequencies in cycles per second"
            )
        return merged.pmf(harmonic)

    def mass_at(self, frequency: ArrayLike) -> Float64Array:
        """Probability of exactly this frequency; any shape."""
        atoms, share = self._atoms
        values = np.zeros(np.shape(frequency)) if atoms is None else share * atoms.mass_at(frequency)
        return np.asarray(values)

    def quantile(self, probability: ArrayLike) -> Float64Array:
        """Quantile in cycles per second; probability in ``[0, 1)``, any shape; always finite."""
        p = probabilities(probability)
        merged = self.merged()
        if merged is not self:
            return merged.quantile(p)
        if self.is_folded:
            return self._absolute_quantile(np.asarray(1 - p))
        absolute = self._absolute_quantile(np.asarray(2 * np.minimum(p, 1 - p)))
        return np.asarray(np.where(p < 0.5, -1.0, 1.0) * absolute)

    def _absolute_quantile(self, survival: Float64Array) -> Float64Array:
        """Absolute frequency that is exceeded with a probability; any shape.

        Between two atoms the densities alone go on; at an atom the probability jumps.
        """
        target = np.asarray(np.clip(survival, _NO_ATOM, 1.0))
        atoms, share = self._atoms
        folded = None if atoms is None else atoms.fold()
        places = np.zeros(0) if folded is None else folded.frequencies
        masses = np.zeros(0) if folded is None else share * folded.masses
        above = np.concatenate([np.cumsum(masses[::-1])[::-1], [0.0]])  # of atoms from each on
        smooth = self._smooth_survival(places)
        # Atoms whose jump ends before the target is reached lie below the quantile.
        passed = np.searchsorted(-(smooth + above[1:]), -target, side="right")
        inside = np.minimum(passed, max(len(places) - 1, 0))
        at_atom = np.zeros(target.shape, bool)
        if len(places):
            at_atom = (passed < len(places)) & (target <= (smooth + above[:-1])[inside])
        wanted = np.asarray(np.maximum(target - above[passed], _NO_ATOM))
        found = self._inverse(wanted)
        return np.asarray(np.where(at_atom, places[inside] if len(places) else 0.0, found))

    @cached_property
    def _inverse(self) -> SurvivalInverse:
        return SurvivalInverse(self._smooth_survival, self._smooth_density, self.scale)

    def _smooth_density(self, absolute: Float64Array) -> Float64Array:
        """What the survival of the densities loses per frequency."""
        parts = (2 * w * law.distribution.pdf(np.asarray(absolute)) for law, w in self._densities)
        return np.asarray(sum(parts, np.zeros(np.shape(absolute))))

    def _smooth_survival(self, absolute: Float64Array) -> Float64Array:
        """Mass of the densities above an absolute frequency."""
        parts = (2 * w * law.tail(absolute) for law, w in self._densities)
        return np.asarray(sum(parts, np.zeros(np.shape(absolute))))

    def negative_share(self, absolute: ArrayLike) -> Float64Array:
        """Probability that a frequency is negative, given its absolute value; any shape."""
        merged = self.merged()
        if merged is not self:
            return merged.negative_share(absolute)
        size = np.asarray(absolute, np.float64)
        return np.where(size == 0, 0.0, 0.0 if self.is_folded else 0.5)

    def sample(self, n: int, rng: np.random.Generator) -> Float64Array:
        """Draw ``n`` independent frequencies in cycles per second, shape ``(n,)``."""
        which = rng.choice(len(self.laws), n, p=self.weights / self.weights.sum())
        drawn = np.empty(n)
        for part, law in enumerate(self.laws):
            drawn[which == part] = law.sample(int((which == part).sum()), rng)
        return drawn

    def fold(self) -> "Mixture":
        """Law of the absolute frequency (ClockRoPE, Eq. 20): the mixture of the folded parts."""
        return replace(self, laws=[law.fold() for law in self.laws])

    def truncate(self, s: float | None = None) -> "Mixture":
        """Truncate each part by its own scale, or at its own harmonic ``s``; weights stay.

        Args:
            s: Largest harmonic of each part's own period. By default each part keeps three times its scale.

        Raises:
            InputError: A harmonic is asked of a part that has none, or leaves it no mass.
        """
        if s is None:
            return self._parts_truncated([law.truncate() for law in self.laws])
        if not all(isinstance(law, Lattice) for law in self.laws):
            raise InputError(
                f"truncation at harmonic {s} of a mixture whose parts have no harmonics: use truncate_at, "
                "with a frequency in cycles per second"
            )
        return self._parts_truncated([law.truncate(s) for law in self.laws])

    def truncate_at(self, frequency: float) -> "Mixture":
        """Keep frequencies up to one that is the same for all parts, and renormalise.

        Args:
            frequency: Cycles per second.

        Raises:
            InputError: It leaves no mass.
        """
        kept = [
            w * _mass_up_to(law, frequency) for law, w in zip(self.laws, self.weights.tolist(), strict=True)
        ]
        mass = math.fsum(kept)
        if not mass > 0:
            raise InputError(
                f"truncation at {frequency:g} cycles per second leaves no mass: expected a larger frequency"
            )
        weights = np.array(kept) / mass
        left = [
            law.truncate(frequency * law.period if isinstance(law, Lattice) else frequency)
            for law, weight in zip(self.laws, kept, strict=True)
            if weight > 0
        ]
        return Mixture(
            left,
            weights[weights > 0],
            1 - (1 - self.mass_cut) * mass,
            self._change(left, weights) + self.sup_error,
        )

    def _parts_truncated(self, laws: list[Law]) -> "Mixture":
        if self.cut_at_once is None or self.error_at_once is None:
            return replace(self, laws=laws)
        parts = list(zip(self.laws, laws, self.weights.tolist(), strict=True))
        mass = math.fsum(w * (1 - new.mass_cut) / (1 - old.mass_cut) for old, new, w in parts)
        error = math.fsum(w * (new.sup_error - old.sup_error) for old, new, w in parts)
        cut = 1 - (1 - self.cut_at_once) * mass
        return replace(self, laws=laws, cut_at_once=cut, error_at_once=self.error_at_once + error)

    def _change(self, left: Sequence[Law], weights: Float64Array) -> float:
        """Most by which other weights and truncated parts can change the profile."""
        before = [law for law, weight in zip(self.laws, weights, strict=True) if weight > 0]
        parts = zip(before, left, weights[weights > 0], strict=True)
        within = math.fsum(w * (new.sup_error - old.sup_error) for old, new, w in parts)
        return within + float(np.abs(weights - self.weights).sum())

    def rescale(self, factor: float) -> "Mixture":
        """Law of ``f(lag / factor)``."""
        return replace(self, laws=[law.rescale(factor) for law in self.laws])


def _mass_up_to(law: Law, frequency: float) -> float:
    folded = law.fold()
    return float(folded.cdf(frequency)) if frequency >= 0 else 0.0
