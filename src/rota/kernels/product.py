"""Product: a routine that fades, or several that must agree."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.certificate import Certificate
from rota.kernels.weighted_sum import WeightedSum, weigh
from rota.kernels.witnesses import certificate_of_parts
from rota.spectra.base import Law
from rota.spectra.convolution import convolve
from rota.types import Float64Array
from rota.units import Lag, lag_seconds

__all__ = ["Product"]


@dataclass(frozen=True)
class Product(Kernel):
    """``prod_i f_i(lag)``, written ``daily * fading``; positive definite where all parts are (Schur).

    Its law is the law of the sum of independent draws from each part's law.

    Attributes:
        kernels: The factors. Those of a product among them stand in its place, and a weighted sum is
            divided by its total: f(0) = 1 as it is.
    """

    kernels: Sequence[Kernel]

    def __post_init__(self) -> None:
        factors = tuple(factor for kernel in self.kernels for factor in _factors(kernel))
        object.__setattr__(self, "kernels", factors)
        if len(factors) < 2:
            raise InputError(f"a product of {len(factors)} profiles: expected at least two")

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        lags = lag_seconds(lag)
        return np.asarray(reduce(np.multiply, [kernel(lags) for kernel in self.kernels]), np.float64)

    def spectrum(self) -> Law:
        """Convolution of the factors' laws.

        Raises:
            InputError: A factor has no law, or all together have millions of harmonics.
        """
        return self._law

    @cached_property
    def _law(self) -> Law:
        """Kept: the table of two densities takes seconds, and every layer asks for it."""
        return reduce(convolve, [kernel.spectrum() for kernel in self.kernels])

    def __reduce__(self) -> tuple[object, ...]:
        """What was computed is not pickled: it can be again."""
        return type(self), (self.kernels,)

    def certificate(self) -> Certificate:
        """Yes where every factor is; else what a search for a witness finds."""
        return certificate_of_parts(self, self.kernels, [1.0] * len(self.kernels))

    def __str__(self) -> str:
        """Expression that `parse_kernel` reads back."""
        return " * ".join(
            f"({kernel})" if isinstance(kernel, WeightedSum | Product) else str(kernel)
            for kernel in self.kernels
        )


def multiply(first: Kernel, second: Kernel) -> Product | WeightedSum:
    """Product of two profiles; weights that they carry into later sums are multiplied too."""
    product, weight = Product((first, second)), _weight(first) * _weight(second)
    return product if weight == 1 else weigh(product, weight)


def _weight(kernel: Kernel) -> float:
    """What a profile weighs in a sum."""
    if not isinstance(kernel, WeightedSum):
        return 1.0
    # Shares of one weigh one: rounding in their total is no weight, and would change at every reading.
    return 1.0 if len(kernel.kernels) > 1 and math.isclose(kernel.total, 1, rel_tol=1e-12) else kernel.total


def _factors(kernel: Kernel) -> tuple[Kernel, ...]:
    """What stands for a profile among the factors of a product."""
    if isinstance(kernel, Product):
        return tuple(kernel.kernels)
    if not isinstance(kernel, WeightedSum):
        return (kernel,)
    if len(kernel.kernels) == 1:
        return _factors(kernel.kernels[0])
    return (kernel,) if _weight(kernel) == 1 else (WeightedSum(kernel.kernels, kernel.shares.tolist()),)
