"""Smoothness: what a caller knows of a profile's derivatives, and what follows between samples."""

import math
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.kernels.amounts import plain
from rota.tables import Recipe

__all__ = ["Smoothness"]

_HIGHEST = 16


@dataclass(frozen=True)
class Smoothness(Recipe):
    """The caller's word that ``|f^(order)(lag)| <= bound`` at every lag.

    What it gives: let h be the difference of f and of a law's profile p, known at even samples ``step``
    apart. Between samples h is its Lagrange polynomial through the ``order`` nearest ones (as many on either
    side as there can be) plus ``h^(order)(somewhere) prod (x - x_i) / order!``. The polynomial is at most
    ``spread_of_samples`` times the largest sample, the product at most ``gap_constant step^order order!``,
    and ``|h^(order)| <= bound + E|2 pi xi|^order``, for p is the characteristic function of xi.

    Attributes:
        order: Of the derivative, 1 to 16. The derivative below it must be continuous; kinks have order 1.
        bound: In ``1 / s^order``.
    """

    order: int
    bound: float

    def __post_init__(self) -> None:
        order, bound = plain(self.order), plain(self.bound)
        if order is None or order % 1 or not 1 <= order <= _HIGHEST:
            raise InputError(
                f"smoothness of order {self.order!r}: expected a derivative from 1 to {_HIGHEST}"
            )
        if bound is None or not (math.isfinite(bound) and bound >= 0):
            raise InputError(
                f"smoothness bound {self.bound!r}: expected a finite number of 1/s^{self.order}, not negative"
            )
        object.__setattr__(self, "order", int(order))
        object.__setattr__(self, "bound", bound)

    def __str__(self) -> str:
        """For instance ``smoothness(2, 1e-08)``."""
        return f"smoothness({self.order}, {self.bound!r})"

    @property
    def claim(self) -> str:
        """For instance ``|f^(2)| <= 1e-08 / s^2``."""
        return f"|f^({self.order})| <= {self.bound:g} / s^{self.order}"

    def gap_constant(self) -> float:
        """Most of ``prod |x - x_i| / order!`` for nodes one apart and x in the middle gap, from above.

        Even orders have x between the two middle nodes, where the product is largest halfway; odd ones have
        it up to 1/2 from the middle node, where ``|x^2 - i^2| <= i^2``.
        """
        order, half = self.order, self.order // 2
        if order % 2 == 0:
            halfway = math.prod((i - 0.5) ** 2 for i in range(1, half + 1))
            return halfway / math.factorial(order)
        return 0.5 * math.factorial(half) ** 2 / math.factorial(order)

    def spread_of_samples(self) -> float:
        """Lebesgue constant of the nodes in the middle gap, from above: 1, 1.25 or little more."""
        nodes = np.arange(self.order) - (self.order - 1) // 2
        places = np.linspace(0, 1, 257) if self.order % 2 == 0 else np.linspace(-0.5, 0.5, 257)
        total = np.zeros(len(places))
        for i, node in enumerate(nodes):
            others = np.delete(nodes, i)
            total += np.abs(np.prod((places[:, None] - others) / (node - others), axis=1))
        return float(total.max()) + 1e-3  # the grid misses the top by less
