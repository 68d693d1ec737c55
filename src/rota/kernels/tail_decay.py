"""Tail decay: what a caller knows of how a profile dies away."""

import math
from dataclasses import dataclass

from rota.kernels.amounts import positive
from rota.tables import Recipe


@dataclass(frozen=True)
class TailDecay(Recipe):
    """The caller's word that ``|f(lag)| <= bound * |lag|^-order`` at every lag, in seconds.

    It is used beyond the sampled range, where f is known by nothing else.

    Attributes:
        order: Positive. What decays faster than any power can give any order.
        bound: In ``s^order``.
    """

    order: float
    bound: float

    def __post_init__(self) -> None:
        for name, value in (("order", self.order), ("bound", self.bound)):
            object.__setattr__(self, name, positive(value, f"tail {name}"))

    def __str__(self) -> str:
        """For instance ``tail_decay(2.0, 1000000.0)``."""
        return f"tail_decay({self.order!r}, {self.bound!r})"

    @property
    def claim(self) -> str:
        """For instance ``|f| <= 1e+06 s^2 / lag^2``."""
        return f"|f| <= {self.bound:g} s^{self.order:g} / lag^{self.order:g}"

    def beyond(self, lag: float) -> float:
        """Bound on ``|f|`` from this lag on."""
        return self.bound * math.pow(lag, -self.order)
