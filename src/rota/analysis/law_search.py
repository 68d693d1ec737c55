"""Search of a law: how many harmonics and decays users who took no part in the fit are best told by."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add

import numpy as np

from rota.analysis.law_columns import Column, Decay, Harmonic, Level
from rota.analysis.law_sums import Sums
from rota.types import Float64Array

__all__: list[str] = []

_COUNTS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64)  # harmonics tried
_MOST_DECAYS = 4
_ROUNDS = 2  # over periods and decays in turn; a third changes nothing that is seen


@dataclass
class LawSearch:
    """Chooses by held-out users, with the rule of one standard error.

    A choice is the smallest whose held-out misfit is within one standard error of the best one's, the error
    being that of the difference over the folds. Harmonics of a period are chosen up to a largest, decays by
    the order in which they help most.

    Attributes:
        columns: Parts that a law may have.
        folds: Sums of each fold of users; two at least.
        harmonics: Chosen for each period: the largest.
        decays: Widths chosen.
    """

    columns: Sequence[Column]
    folds: Sequence[Sums]
    harmonics: dict[float, int] = field(init=False)
    decays: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.whole = reduce(add, self.folds)
        self._others = [self.whole - fold for fold in self.folds]
        self._known: dict[tuple[int, ...], float] = {}
        periods = {column.period for column in self.columns if isinstance(column, Harmonic)}
        self.harmonics = {period: max(self._numbers(period)) for period in sorted(periods)}
        self.decays = tuple(column.width for column in self.columns if isinstance(column, Decay))
        for _ in range(_ROUNDS):
            for period in self.harmonics:
                self.harmonics[period] = self._harmonics_of(period)
            self.decays = self._decays()

    @property
    def chosen(self) -> list[int]:
        """Places of the chosen columns."""
        return self._places(self.harmonics, self.decays)

    def coefficients(self) -> Float64Array:
        """Of all users, shape ``(columns,)``; 0 for what is not chosen."""
        return self.whole.solved(self.chosen)

    def _numbers(self, period: float) -> list[int]:
        return [one.number for one in self.columns if isinstance(one, Harmonic) and one.period == period]

    def _places(self, harmonics: dict[float, int], decays: Sequence[float]) -> list[int]:
        return [
            place
            for place, column in enumerate(self.columns)
            if isinstance(column, Level)
            or (isinstance(column, Harmonic) and column.number <= harmonics[column.period])
            or (isinstance(column, Decay) and column.width in decays)
        ]

    def _harmonics_of(self, period: float) -> int:
        top = max(self._numbers(period))
        counts = sorted({count for count in _COUNTS if count < top} | {top})
        tried = [self._places({**self.harmonics, period: count}, self.decays) for count in counts]
        return counts[self._smallest([[places] * len(self.folds) for places in tried])]

    def _decays(self) -> tuple[float, ...]:
        """As many as are chosen, of those that all users choose first; each fold chooses its own."""
        all_in_turn = self._in_turn(self.whole)
        turns = [self._in_turn(others) for others in self._others]
        most = max(map(len, [all_in_turn, *turns]))
        tried = [[self._places(self.harmonics, turn[:count]) for turn in turns] for count in range(most + 1)]
        return tuple(sorted(all_in_turn[: self._smallest(tried)]))

    def _in_turn(self, sums: Sums) -> list[float]:
        """Widths in the order in which each lowers the misfit most, up to four; none that does not."""
        left = [column.width for column in self.columns if isinstance(column, Decay)]
        taken: list[float] = []
        best = self._misfit(sums, taken)
        while left and len(taken) < _MOST_DECAYS:
            found = {width: self._misfit(sums, [*taken, width]) for width in left}
            width = min(found, key=found.__getitem__)
            if not found[width] < best:
                break
            best = found[width]
            taken.append(width)
            left.remove(width)
        return taken

    def _misfit(self, sums: Sums, decays: Sequence[float]) -> float:
        return sums.misfit(sums.solved(self._places(self.harmonics, decays)))

    def _smallest(self, tried: Sequence[Sequence[list[int]]]) -> int:
        """Which of some choices, smallest first, to take; each has its columns for every fold."""
        misfits = np.array(
            [[self._held_out(fold, places) for fold, places in enumerate(choice)] for choice in tried]
        )
        best = misfits[int(misfits.sum(axis=1).argmin())]
        worse = misfits - best
        error = worse.std(axis=1, ddof=1) * np.sqrt(len(self.folds))
        return int(np.flatnonzero(worse.sum(axis=1) <= error)[0])

    def _held_out(self, fold: int, places: list[int]) -> float:
        """Misfit of a fold's users to what the others say."""
        known = (fold, *places)
        if known not in self._known:
            self._known[known] = self.folds[fold].misfit(self._others[fold].solved(places))
        return self._known[known]
