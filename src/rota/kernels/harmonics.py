"""Harmonics: a periodic profile given by its law's masses."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.kernels.base import Admissible
from rota.spectra.lattice import Lattice
from rota.types import Duration, Float64Array, Int64Array
from rota.units import Lag, duration_text, lag_seconds, seconds

__all__ = ["Harmonics"]

_AT_ONCE = 256  # harmonics summed at once: fast, and memory stays that of the lags times this


@dataclass(frozen=True)
class Harmonics(Admissible):
    """``f(lag) = sum_k m_k cos(2 pi k lag / period) / sum_k m_k`` (ClockRoPE, Eq. 14 with any coefficients).

    What `project` makes of a periodic profile. Only the ratios of masses matter, so that f(0) = 1.

    Attributes:
        period: ``"24h"``, seconds or a ``timedelta``; kept as seconds.
        harmonics: Whole numbers ``k >= 0``, ascending.
        masses: One for each, of ``k`` and ``-k`` together; not negative.

    Raises:
        InputError: Harmonics or masses are not such.
    """

    period: Duration
    harmonics: Sequence[int]
    masses: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", seconds(self.period))
        harmonics, masses = checked_harmonics(self.harmonics, self.masses)
        object.__setattr__(self, "harmonics", harmonics)
        object.__setattr__(self, "masses", masses)

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        harmonics, masses = shares(self.harmonics, self.masses)
        return cosine_sum(lag_seconds(lag), seconds(self.period), harmonics, masses)

    def spectrum(self) -> Lattice:
        """Half of each mass on its harmonic, half on the negative one."""
        harmonics, masses = shares(self.harmonics, self.masses)
        halves = np.where(harmonics == 0, 1.0, 0.5) * masses
        moving = harmonics > 0
        both = np.concatenate([-harmonics[moving][::-1], harmonics])
        return Lattice(seconds(self.period), both, np.concatenate([halves[moving][::-1], halves]))

    def __str__(self) -> str:
        """For instance ``harmonics(24h, [0, 1], [0.5, 0.5])``."""
        return f"harmonics({duration_text(seconds(self.period))}, {[*self.harmonics]}, {[*self.masses]})"


def checked_harmonics(
    harmonics: Sequence[int], masses: Sequence[float]
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Harmonics and masses as a recipe keeps them.

    Raises:
        InputError: Harmonics are no ascending whole numbers from 0 on, or masses are not one for each, finite
            and not negative with some of them positive.
    """
    try:
        counts, amounts = np.asarray(harmonics, np.float64), np.asarray(masses, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            "harmonics and masses of a profile: expected a list of numbers each, as in [0, 1], [0.5, 0.5]"
        ) from error
    ascending = counts.ndim == 1 and len(counts) > 0 and counts[0] >= 0 and bool(np.all(np.diff(counts) > 0))
    if not (ascending and np.all(np.mod(counts, 1) == 0)):
        raise InputError("harmonics of a profile: expected ascending whole numbers from 0 on, at least one")
    if amounts.shape != counts.shape:
        raise InputError(f"{len(counts)} harmonics with masses of shape {amounts.shape}: one each is needed")
    if not (np.isfinite(amounts).all() and np.all(amounts >= 0) and amounts.sum() > 0):
        raise InputError("masses of harmonics: expected finite numbers, none negative and some positive")
    return tuple(counts.astype(np.int64).tolist()), tuple(amounts.tolist())


def shares(harmonics: Sequence[int], masses: Sequence[float]) -> tuple[Int64Array, Float64Array]:
    """Arrays of harmonics and of their shares of the mass, both of shape ``(n,)``."""
    amounts = np.array(masses, np.float64)
    return np.array(harmonics, np.int64), amounts / amounts.sum()


def cosine_sum(lag: Float64Array, period: float, harmonics: Int64Array, masses: Float64Array) -> Float64Array:
    """``sum_k m_k cos(2 pi k lag / period)``; lag in seconds, any shape."""
    turn = np.mod(lag, period) / period  # before k multiplies the error
    total = np.zeros(turn.shape)
    for first in range(0, len(harmonics), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        total += np.cos(2 * np.pi * np.multiply.outer(turn, harmonics[some])) @ masses[some]
    return total
