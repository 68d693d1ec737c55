"""Listed: what the profiles have in common that are given by the masses of their harmonics."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.kernels.base import Admissible
from rota.types import Duration, Float64Array, Int64Array
from rota.units import seconds

__all__: list[str] = []


@dataclass(frozen=True)
class ListedHarmonics(Admissible):
    """A profile of harmonics and masses; only the ratios of masses matter, so that f(0) = 1.

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
        harmonics, masses = _checked(self.harmonics, self.masses)
        object.__setattr__(self, "harmonics", harmonics)
        object.__setattr__(self, "masses", masses)

    def arrays(self) -> tuple[float, Int64Array, Float64Array]:
        """Period in seconds, harmonics, and their shares of the mass, both of shape ``(n,)``."""
        amounts = np.array(self.masses, np.float64)
        return seconds(self.period), np.array(self.harmonics, np.int64), amounts / amounts.sum()


def _checked(harmonics: Sequence[int], masses: Sequence[float]) -> tuple[tuple[int, ...], tuple[float, ...]]:
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
