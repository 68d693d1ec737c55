"""Rescaled: a profile stretched in time."""

from dataclasses import dataclass, replace

from rota.kernels.amounts import positive
from rota.kernels.base import Kernel
from rota.kernels.certificate import Certificate, Witness
from rota.spectra.base import Law
from rota.types import Float64Array
from rota.units import Lag, lag_seconds


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
        object.__setattr__(self, "factor", positive(self.factor, "factor", "of a rescaled profile"))

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        return self.kernel(lag_seconds(lag) / self.factor)

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
