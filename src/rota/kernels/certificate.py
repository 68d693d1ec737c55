"""Certificate: whether a profile is positive definite, and what shows it."""

from dataclasses import dataclass

import numpy as np

from rota.choice import Choice
from rota.types import Float64Array

__all__ = ["Certificate", "Verdict", "Witness"]


class Verdict(Choice):
    """Whether a profile is positive definite."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


@dataclass(frozen=True, eq=False)
class Witness:
    """What shows that a profile is not admissible.

    Either points and weights whose quadratic form ``sum_ij w_i w_j f(p_i - p_j)`` is negative; or the lags at
    which the profile has a value that no admissible one has, with ``weights`` ``None``.

    Attributes:
        points: Seconds, shape ``(n,)``.
        weights: Shape ``(n,)``, or ``None``.
        value: The quadratic form, for weights of norm 1, or the value.
    """

    points: Float64Array
    weights: Float64Array | None
    value: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """Verdict on a profile.

    Attributes:
        verdict: ``"yes"``, ``"no"`` or ``"undecided"``.
        reason: One sentence.
        witness: What shows a ``"no"``, else ``None``.
        tolerance: Sup distance from an admissible profile up to which the verdict holds: 0 where it is exact.
    """

    verdict: Verdict
    reason: str
    witness: Witness | None = None
    tolerance: float = 0.0


def quadratic_form(kernel: object, witness: Witness) -> float:
    """The witness's quadratic form, computed plainly from a profile (a `Kernel` or any callable)."""
    if witness.weights is None or not callable(kernel):
        raise TypeError("expected a profile and a witness with weights")
    gram = np.asarray(kernel(witness.points[:, None] - witness.points), np.float64)
    return float(witness.weights @ gram @ witness.weights)
