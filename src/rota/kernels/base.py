"""Kernel: an attention profile f(lag), with f(0) = 1, and the law that realises it."""

import dataclasses
from abc import ABC, abstractmethod

from numpy.typing import ArrayLike

from rota.rooms import find
from rota.spectra.base import Law
from rota.tables import Recipe
from rota.types import Float64Array
from rota.units import duration_text


class Kernel(Recipe, ABC):
    """How much two events should attend to each other as a function of the time between them.

    Admissible profiles are positive definite, so their Fourier transform is a probability law: rotating
    query and key by frequencies drawn from it multiplies their product by f on average (ClockRoPE,
    Prop. 3.1).
    """

    @abstractmethod
    def __call__(self, lag: ArrayLike) -> Float64Array:
        """Profile at a lag in seconds, any shape; float64, 1 at lag 0."""

    @abstractmethod
    def spectrum(self) -> Law:
        """Law of the rotation frequencies that realise the profile."""

    def __str__(self) -> str:
        """Expression that `parse_kernel` reads back, for instance ``wrapped_gaussian(24h, 2h)``."""
        name = type(self).__module__.rpartition(".")[2]
        values = [duration_text(getattr(self, field.name)) for field in dataclasses.fields(self)]  # type: ignore[arg-type]
        return f"{name}({', '.join(values)})"


def find_kernel(name: str) -> type[Kernel]:
    """Kernel class of a name such as ``"wrapped_gaussian"``; `InputError` lists those there are."""
    return find("kernels", name, Kernel)  # type: ignore[type-abstract]
