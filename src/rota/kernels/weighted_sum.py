"""Weighted sum: a profile of several routines, each with its share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.kernels.amounts import positive
from rota.kernels.base import Kernel
from rota.kernels.certificate import Certificate
from rota.kernels.witnesses import certificate_of_parts
from rota.spectra.mixture import Mixture
from rota.types import Float64Array
from rota.units import Lag, lag_seconds

__all__ = ["WeightedSum"]

_LEAST_SHARE = 1e-15


@dataclass(frozen=True)
class WeightedSum(Kernel):
    """``sum_i w_i f_i(lag) / sum_i w_i``: only the ratios of weights matter, so that f(0) = 1.

    Written ``daily * 0.7 + weekly * 0.3``. Its law is the mixture of the parts' laws: each frequency comes
    from one of them (what ClockRoPE, Sec. 3.3.4, names beside feature shards).

    Attributes:
        kernels: The parts; those of a sum among them stand in its place, and share its weight.
        weights: Of each, positive, and at least 1e-15 of their total: rounding in it is no share.

    Raises:
        InputError: There are no parts, or weights are not one each and such.
    """

    kernels: Sequence[Kernel]
    weights: Sequence[float]

    def __post_init__(self) -> None:
        if not self.kernels or len(self.kernels) != len(self.weights):
            raise InputError(
                f"a sum of {len(self.kernels)} profiles with {len(self.weights)} weights: one each is needed"
            )
        parts = [
            part
            for kernel, weight in zip(self.kernels, self.weights, strict=True)
            for part in _parts(kernel, positive(weight, "weight", "of a profile in a sum"))
        ]
        object.__setattr__(self, "kernels", tuple(kernel for kernel, _ in parts))
        object.__setattr__(self, "weights", tuple(weight for _, weight in parts))
        if not math.isfinite(sum(self.weights)):
            raise InputError(f"weights up to {max(self.weights)} in a sum: expected a finite total")
        if min(self.weights) < _LEAST_SHARE * sum(self.weights):
            raise InputError(
                f"weight {min(self.weights):g} beside a total of {sum(self.weights):g}: expected a share of "
                f"at least {_LEAST_SHARE:g}; leave such a profile out"
            )

    @property
    def total(self) -> float:
        """Sum of the weights, by which they are divided."""
        return math.fsum(self.weights)

    @property
    def shares(self) -> Float64Array:
        """Weights divided by their total, shape ``(parts,)``."""
        return np.array(self.weights) / self.total

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        lags = lag_seconds(lag)
        values = [share * kernel(lags) for share, kernel in zip(self.shares, self.kernels, strict=True)]
        return np.asarray(sum(values), np.float64)

    def spectrum(self) -> Mixture:
        """Mixture of the parts' laws.

        Raises:
            InputError: A part has no law.
        """
        return Mixture([kernel.spectrum() for kernel in self.kernels], self.shares)

    def certificate(self) -> Certificate:
        """Yes where every part is; else what a search for a witness finds."""
        return certificate_of_parts(self, self.kernels, self.shares.tolist())

    def __str__(self) -> str:
        """Expression that `parse_kernel` reads back."""
        parts = zip(self.kernels, self.weights, strict=True)
        return " + ".join(f"{kernel} * {weight!r}" for kernel, weight in parts)


def add(first: Kernel, second: Kernel) -> WeightedSum:
    """Sum of two profiles; parts of sums stand side by side with their weights."""
    one, other = weigh(first, 1.0), weigh(second, 1.0)
    return WeightedSum((*one.kernels, *other.kernels), (*one.weights, *other.weights))


def weigh(kernel: Kernel, weight: float) -> WeightedSum:
    """A profile with a weight."""
    if isinstance(kernel, WeightedSum):
        return WeightedSum(kernel.kernels, tuple(weight * inner for inner in kernel.weights))
    return WeightedSum((kernel,), (weight,))


def _parts(kernel: Kernel, weight: float) -> list[tuple[Kernel, float]]:
    """What stands for a profile among the parts of a sum."""
    if not isinstance(kernel, WeightedSum):
        return [(kernel, weight)]
    if len(kernel.kernels) == 1:
        return [(kernel.kernels[0], weight)]
    return [
        (part, weight * share) for part, share in zip(kernel.kernels, kernel.shares.tolist(), strict=True)
    ]
