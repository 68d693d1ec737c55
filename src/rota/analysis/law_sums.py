"""Sums of a weighted least-squares fit, by groups of users, and its solution without negative weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from rota.analysis.lift import Lift
from rota.types import Float64Array

__all__: list[str] = []

_FOLDS = 10
_RIDGE = 1.0  # pairs expected by chance: all that pulls a coefficient to zero
_LEAST_LIFT = 0.05  # where a fit falls below, noise is taken to be that of this


@dataclass(frozen=True, eq=False)
class Sums:
    """What a fit needs of some users' pairs: it is quadratic in the coefficients.

    Attributes:
        gram: Of the columns, shape ``(columns, columns)``.
        moment: Of columns and lift, shape ``(columns,)``.
    """

    gram: Float64Array
    moment: Float64Array

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(self.gram + other.gram, self.moment + other.moment)

    def __sub__(self, other: "Sums") -> "Sums":
        return Sums(self.gram - other.gram, self.moment - other.moment)

    def solved(self, chosen: Sequence[int]) -> Float64Array:
        """Coefficients of the chosen columns, none negative, the others 0; shape ``(columns,)``."""
        some = np.asarray(chosen, np.int64)
        coefficients = np.zeros(len(self.moment))
        ridged = self.gram[np.ix_(some, some)] + _RIDGE * np.eye(len(some))
        root = np.linalg.cholesky(ridged)
        coefficients[some], _ = nnls(root.T, np.linalg.solve(root, self.moment[some]))
        return coefficients

    def misfit(self, coefficients: Float64Array) -> float:
        """Weighted sum of squared errors, less what no coefficients change."""
        return float(coefficients @ self.gram @ coefficients - 2 * self.moment @ coefficients)


def sums_of_folds(lift: Lift, columns: Float64Array, fit: Float64Array, first: int) -> list[Sums]:
    """Sums of each fold of groups of users; added up they are those of all.

    A bin weighs by its precision: pairs of one item are counted, so the variance of a lift is about the lift
    itself over the pairs that chance would give.

    Args:
        lift: Measured.
        columns: Means of the columns over the bins, shape ``(bins, columns)``.
        fit: A first fit of the lift, shape ``(bins,)``, for the precision.
        first: Bins before it are left out.
    """
    spread = np.maximum(fit, _LEAST_LIFT)
    folds = np.array_split(np.arange(len(lift.same)), min(_FOLDS, len(lift.same)))
    found = []
    for groups in folds:
        weight = lift.expected[groups].sum(axis=0) / spread
        toward = lift.same[groups].sum(axis=0) / spread
        weight[:first], toward[:first] = 0.0, 0.0
        found.append(Sums(columns.T @ (weight[:, None] * columns), toward @ columns))
    return found
