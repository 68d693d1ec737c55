"""Certification: is a profile positive definite?"""

from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.calling import ProfileFunction
from rota.kernels.certificate import Certificate
from rota.kernels.function import from_function
from rota.types import Duration

__all__ = ["certify"]


def certify(kernel: Kernel | ProfileFunction | str, period: Duration | None = None) -> Certificate:
    """Whether a profile is positive definite, so that rotations can realise it.

    Yes is exact for our own kernels and for sums and products of them. For a function it is given only where
    the caller's smoothness and tail (see `from_function`) prove a law's profile to be within a millionth. No
    comes with a witness, no bound needed. All else is undecided, with the distance reached.

    Args:
        kernel: A kernel, or a callable of a lag in seconds, or ``"module:name"`` of one.
        period: Of a callable; ``None`` for one that dies away.

    Raises:
        InputError: A period is given beside a kernel, which has its own; or a callable raises.
    """
    if isinstance(kernel, Kernel):
        if period is not None:
            raise InputError(f"a period beside {kernel}: a kernel has its own; give one with a callable only")
        return kernel.certificate()
    return from_function(kernel, period).certificate()
