"""Von Mises profile: a routine with a width, smooth all the way round."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ive

from rota.errors import InputError
from rota.kernels.amounts import positive
from rota.kernels.base import Admissible
from rota.kernels.periodic_gaussian import centred
from rota.spectra.lattice import Lattice
from rota.types import Duration, Float64Array
from rota.units import Lag, seconds

__all__ = ["VonMises"]

_SHARPEST = 2.5e8  # as narrow as the narrowest wrapped Gaussian: 1e-5 of the period
_UNSEEN = 1e-18  # of the largest mass: what float64 cannot tell from none


@dataclass(frozen=True)
class VonMises(Admissible):
    """``f(lag) = exp(concentration (cos(2 pi lag / period) - 1))``.

    For narrow peaks it is the wrapped Gaussian of the width ``period / (2 pi sqrt(concentration))``.

    Attributes:
        period: ``"24h"``, seconds or a ``timedelta``; kept as seconds.
        concentration: Positive.

    Raises:
        InputError: The concentration is not a positive, finite number.
    """

    period: Duration
    concentration: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", seconds(self.period))
        hint = ", for instance (T / (2 pi width))^2"
        concentration = positive(self.concentration, "concentration", "of a von_mises profile", hint)
        object.__setattr__(self, "concentration", concentration)

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        turn = centred(lag, seconds(self.period)) / seconds(self.period)
        return np.asarray(np.exp(-2 * self.concentration * np.sin(np.pi * turn) ** 2))

    def spectrum(self) -> Lattice:
        """Law with the masses ``exp(-kappa) I_k(kappa)``, as far as float64 can tell them from zero.

        Its scale, by which it is truncated, is ``sqrt(kappa)``: a narrow peak's ``T / (2 pi sigma)``.

        Raises:
            InputError: The concentration is above 2.5e8, which is a million harmonics and no routine.
        """
        sigma_star = math.sqrt(self.concentration)
        highest = math.ceil(9 * sigma_star) + 20
        if self.concentration > _SHARPEST:
            raise InputError(
                f"{self} has {highest:,} harmonics: expected a concentration of at most {_SHARPEST:g}"
            )
        one_side = ive(np.arange(highest + 1), self.concentration)
        one_side = one_side[one_side > _UNSEEN * one_side[0]]
        masses = np.concatenate([one_side[:0:-1], one_side])
        harmonics = np.arange(len(masses)) - (len(one_side) - 1)
        return Lattice(seconds(self.period), harmonics, masses / masses.sum(), sigma_star=sigma_star)
