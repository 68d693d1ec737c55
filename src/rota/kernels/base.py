"""Kernel: an attention profile f(lag), with f(0) = 1, and the law that realises it."""

import dataclasses
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, get_type_hints

from rota.kernels.certificate import Certificate, Verdict
from rota.rooms import find
from rota.spectra.base import Law
from rota.tables import Recipe
from rota.types import Duration, Float64Array
from rota.units import Lag, duration_text

if TYPE_CHECKING:
    from rota.kernels.product import Product
    from rota.kernels.rescaled import Rescaled
    from rota.kernels.weighted_sum import WeightedSum


class Kernel(Recipe, ABC):
    """How much two events should attend to each other as a function of the time between them.

    Admissible profiles are positive definite, so their Fourier transform is a probability law: rotating
    query and key by frequencies drawn from it multiplies their product by f on average (ClockRoPE,
    Prop. 3.1). Kernels are added, with weights that are divided by their total, and multiplied:
    ``daily * 0.7 + weekly * 0.3``, ``daily * fading``.
    """

    @abstractmethod
    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag, float64, 1 at lag 0.

        Args:
            lag: Seconds, or ``timedelta64`` or ``timedelta``, any shape.

        Raises:
            InputError: The lag is none of these.
        """

    @abstractmethod
    def spectrum(self) -> Law:
        """Law of the rotation frequencies that realise the profile; symmetric.

        Raises:
            InputError: The profile is not positive definite, so there is none; `project` gives the nearest.
        """

    @abstractmethod
    def certificate(self) -> Certificate:
        """Whether the profile is positive definite; what `certify` returns."""

    def __add__(self, other: "Kernel") -> "WeightedSum":
        """Sum of profiles, each with its weight, divided by the total so that f(0) = 1."""
        from rota.kernels.weighted_sum import add  # a sum is a kernel too: its file imports this one

        return add(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: "Kernel | float") -> "Product | WeightedSum":
        """Product of profiles, or a profile with a weight, to be added to others."""
        from rota.kernels.product import multiply
        from rota.kernels.weighted_sum import weigh

        if isinstance(other, Kernel):
            return multiply(self, other)
        return weigh(self, other) if isinstance(other, int | float) else NotImplemented

    def __rmul__(self, weight: float) -> "WeightedSum":
        """A profile with a weight, to be added to others."""
        from rota.kernels.weighted_sum import weigh

        return weigh(self, weight) if isinstance(weight, int | float) else NotImplemented

    def rescale(self, factor: float) -> "Rescaled":
        """Profile ``f(lag / factor)``: stretched by a positive factor."""
        from rota.kernels.rescaled import Rescaled

        return Rescaled(self, factor)

    def __str__(self) -> str:
        """Expression that `parse_kernel` reads back, for instance ``wrapped_gaussian(24h, 2h)``."""
        name = type(self).__module__.rpartition(".")[2]
        hints = get_type_hints(type(self))
        fields = [field.name for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return f"{name}({', '.join(_written(getattr(self, one), hints[one]) for one in fields)})"


class Admissible(Kernel):
    """A kernel whose law is known in closed form, so that it is positive definite by construction."""

    def certificate(self) -> Certificate:
        """Yes, exactly."""
        return Certificate(
            Verdict.YES, f"{self} is the Fourier transform of a law that is known in closed form"
        )


def find_kernel(name: str) -> type[Kernel]:
    """Kernel class of a name such as ``"wrapped_gaussian"``; `InputError` lists those there are."""
    return find("kernels", name, Kernel)  # type: ignore[type-abstract]


def _written(value: object, hint: object) -> str:
    if hint == Duration and isinstance(value, float):
        return duration_text(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(repr, value))}]"
    return repr(value) if isinstance(value, float) else str(value)
