"""Projection: the nearest profile that rotations can realise."""

from dataclasses import dataclass

from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.calling import ProfileFunction
from rota.kernels.certificate import Verdict
from rota.kernels.function import FunctionKernel, from_function
from rota.kernels.periodic_gaussian import PeriodicGaussian
from rota.kernels.product import Product
from rota.kernels.rescaled import Rescaled
from rota.kernels.weighted_sum import WeightedSum
from rota.types import Duration
from rota.units import seconds

__all__ = ["Projection", "project"]


@dataclass(frozen=True)
class Projection:
    """What a profile becomes.

    Attributes:
        kernel: Admissible.
        distance: Sup distance from the profile, as measured: at the samples, ever closer around the largest
            differences (to a millionth for functions without spikes narrower than the samples' steps; at a
            jump the larger one-sided limit), and at some lags far beyond. The bound where the caller's word
            gives one. For a sum or product of projected parts, the sum of theirs, which it cannot exceed.
    """

    kernel: Kernel
    distance: float


def project(kernel: Kernel | ProfileFunction | str, period: Duration | None = None) -> Projection:
    """The nearest admissible profile: negative masses are set to zero, the rest divided by its total.

    Nearest is meant for the masses: clipping alone is the nearest in the mean square. An admissible kernel
    is returned as it is. Sums, products and rescaled profiles keep their form; their parts are projected.

    Args:
        kernel: A kernel, or a callable of a lag in seconds, or ``"module:name"`` of one.
        period: Of a callable; ``None`` for one that dies away.

    Raises:
        InputError: A period is given beside a kernel; a callable raises or is not finite, or neither dies
            away nor has a period.
    """
    if not isinstance(kernel, Kernel):
        return project(from_function(kernel, period))
    if period is not None:
        raise InputError(f"a period beside {kernel}: a kernel has its own; give one with a callable only")
    if not isinstance(kernel, FunctionKernel) and kernel.certificate().verdict == Verdict.YES:
        return Projection(kernel, 0.0)
    if isinstance(kernel, WeightedSum):
        parts = [project(part) for part in kernel.kernels]
        distance = sum(by * part.distance for by, part in zip(kernel.shares.tolist(), parts, strict=True))
        return Projection(WeightedSum([part.kernel for part in parts], kernel.weights), distance)
    if isinstance(kernel, Product):
        parts = [project(part) for part in kernel.kernels]
        return Projection(Product([part.kernel for part in parts]), sum(part.distance for part in parts))
    if isinstance(kernel, Rescaled):
        whole = project(kernel.kernel)
        return Projection(Rescaled(whole.kernel, kernel.factor), whole.distance)
    if isinstance(kernel, PeriodicGaussian):
        kernel = from_function(kernel, seconds(kernel.period))
    if not isinstance(kernel, FunctionKernel):
        kernel = from_function(kernel)
    inverted = kernel.inversion()
    return Projection(inverted.kernel, inverted.error if inverted.bound is None else inverted.bound)
