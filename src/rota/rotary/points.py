"""From phases to points of the unit circle, which is all that a rotation needs to know of them."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

__all__ = ["unit_points"]

TURN = 2 * math.pi


def unit_points(turns: Float[Tensor, "*phases pairs"], dtype: torch.dtype = torch.float32) -> Tensor:
    """Points of the unit circle at these turns.

    Returns:
        In eager mode complex, shape ``(..., pairs)``, complex128 for float64 features and else complex64;
        under a compiler, which has no fast complex arithmetic, real with a last axis ``(cos, sin)``.
    """
    angle = turns.to(torch.float64 if dtype == torch.float64 else torch.float32) * TURN
    cosine, sine = torch.cos(angle), torch.sin(angle)
    if torch.compiler.is_compiling():
        return torch.stack((cosine, sine), -1)
    return torch.complex(cosine, sine)


def cosine_and_sine(points: Tensor) -> tuple[Tensor, Tensor]:
    """Both parts of `unit_points`, of whichever kind they are."""
    if points.is_complex():
        return points.real, points.imag
    return points[..., 0], points[..., 1]


def count(points: Tensor) -> int:
    """How many pairs of features points turn."""
    return points.shape[-1] if points.is_complex() else points.shape[-2]
