"""Rescaled: a profile stretched in time."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.certificate import Certificate, Witness
from rota.spectra.base import Law
from rota.types import Float64Array


@dataclass(frozen=True)
class Rescaled(Kernel):
    """``f(lag / factor)``: a factor of 7 makes a daily routine a weekly one. Written ``rescaled(f, 7)``.

    Attributes:
        kernel: The profile.
        factor: Positive; its law's frequencies are divided by it.
    """

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.factor) and self.factor > 0):
            raise InputError(
                f"factor {self.factor} of a rescaled profile: expected a positive, finite number"
            )
        object.__setattr__(self, "factor", float(self.factor))

    def __call__(self, lag: ArrayLike) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        return self.kernel(np.asarray(lag, np.float64) / self.factor)

    def spectrum(self) -> Law:
        """The profile's law, its frequencies divided by the factor.

        Raises:
            InputError: The profile has no law.
        """
        return self.kernel.spectrum().rescale(self.factor)

    def certificate(self) -> Certificate:
        """The profile's own, with its witness stretched."""
        known = self.kernel.certificate()
        seen = known.witness
        if seen is None:
            return known
        return replace(known, witness=Witness(seen.points * self.factor, seen.weights, seen.value))
