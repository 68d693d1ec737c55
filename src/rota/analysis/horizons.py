"""How far a profile is worth looking at: its longest period, or until it has died away."""

from rota.kernels.base import Kernel
from rota.kernels.measured import Measured
from rota.kernels.product import Product
from rota.kernels.rescaled import Rescaled
from rota.kernels.weighted_sum import WeightedSum
from rota.spectra.lattice import Lattice

__all__ = ["horizon"]


def horizon(kernel: Kernel) -> float:
    """Lag in seconds up to which a profile has shown what it does.

    A period for a periodic profile; half of ``1 / scale`` of the law for one that dies away, which is three
    widths of a Gaussian; the longest of a sum's or product's parts; of what was measured, the longest period
    where it has one.

    Raises:
        InputError: A part has no law.
    """
    if isinstance(kernel, WeightedSum | Product):
        return max(horizon(part) for part in kernel.kernels)
    if isinstance(kernel, Measured):  # a decay goes on long after every period has been seen
        parts = kernel.periodic or kernel.recency
        return max((horizon(part) for _, part in parts), default=86_400.0)
    if isinstance(kernel, Rescaled):
        return kernel.factor * horizon(kernel.kernel)
    law = kernel.spectrum()
    if isinstance(law, Lattice) or not law.scale > 0:
        return law.period if isinstance(law, Lattice) else 86_400.0  # what never changes: a day of it
    return 0.5 / law.scale
