"""Constant profile: no time at all, for what a sum of routines keeps besides them."""

from dataclasses import dataclass

import numpy as np

from rota.kernels.base import Admissible
from rota.spectra.lattice import Lattice
from rota.types import Float64Array
from rota.units import Lag, lag_seconds

_ANY = 86_400.0  # s; a law at frequency 0 fits every period, and merging treats it so


@dataclass(frozen=True)
class Constant(Admissible):
    """``f(lag) = 1``; in a sum, the share of attention that does not ask for the time."""

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        return np.ones(lag_seconds(lag).shape)

    def spectrum(self) -> Lattice:
        """All mass on frequency 0: pairs that never rotate."""
        return Lattice(_ANY, np.array([0]), np.array([1.0]), sigma_star=0.0)
