"""Turn pairs of features by phases: one complex product in eager float32, real arithmetic elsewhere."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from rota.errors import InputError

__all__ = ["rotate", "rotate_by", "unit_points"]

_TURN = 2 * math.pi


def rotate(
    x: Float[Tensor, "*batch features"], turns: Float[Tensor, "*phases pairs"], layout: str = "interleaved"
) -> Float[Tensor, "*batch features"]:
    """Rotate feature pairs of ``x``; positive turns take ``(1, 0)`` towards ``(0, 1)``.

    Args:
        x: Features, shape ``(..., features)``, any float dtype; those beyond ``2 * pairs`` stay as they are.
        turns: Phases in turns, shape ``(..., pairs)``, broadcastable to ``x`` without its last axis.
        layout: ``"interleaved"`` pairs features ``(2j, 2j + 1)``; ``"half"`` pairs ``(j, pairs + j)``.

    Raises:
        InputError: Unknown layout, or more pairs than features allow.
    """
    if layout not in ("interleaved", "half"):
        raise InputError(f'layout {layout!r}: expected "interleaved" or "half"')
    pairs = turns.shape[-1]
    if 2 * pairs > x.shape[-1]:
        raise InputError(f"{pairs} phases need {2 * pairs} features; x has {x.shape[-1]}")
    head, tail = x[..., : 2 * pairs], x[..., 2 * pairs :]
    points = unit_points(turns, x.dtype)
    turned = rotate_by(head, points) if layout == "interleaved" else _rotate_halves(head, points)
    return torch.cat((turned, tail), -1) if tail.shape[-1] else turned


def unit_points(turns: Float[Tensor, "*phases pairs"], dtype: torch.dtype = torch.float32) -> Tensor:
    """Points of the unit circle at these turns.

    Returns:
        In eager mode complex, shape ``(..., pairs)``, complex128 for float64 features and else complex64;
        under a compiler, which has no fast complex arithmetic, real with a last axis ``(cos, sin)``.
    """
    angle = turns.to(torch.float64 if dtype == torch.float64 else torch.float32) * _TURN
    cosine, sine = torch.cos(angle), torch.sin(angle)
    if torch.compiler.is_compiling():
        return torch.stack((cosine, sine), -1)
    return torch.complex(cosine, sine)


def rotate_by(x: Float[Tensor, "*batch features"], points: Tensor) -> Float[Tensor, "*batch features"]:
    """Multiply interleaved pairs of ``x`` by points of `unit_points` that broadcast to them."""
    if points.is_complex() and x.dtype in (torch.float32, torch.float64):
        return torch.view_as_real(as_complex(x) * points).flatten(-2)
    cosine, sine = _parts(points)
    pairs = x.unflatten(-1, (-1, 2)).to(cosine.dtype)  # bfloat16 is turned in float32 and rounded once
    first, second = pairs[..., 0], pairs[..., 1]
    turned = torch.stack((first * cosine - second * sine, first * sine + second * cosine), -1)
    return turned.flatten(-2).to(x.dtype)


def as_complex(x: Tensor) -> Tensor:
    """Interleaved pairs as complex numbers: a view where memory allows, else a copy."""
    pairs = x.unflatten(-1, (-1, 2))
    aligned = (
        pairs.stride(-1) == 1 and x.storage_offset() % 2 == 0 and all(s % 2 == 0 for s in pairs.stride()[:-1])
    )
    # Not contiguous(): that returns what starts at an odd offset as it is.
    return torch.view_as_complex(pairs if aligned else pairs.clone(memory_format=torch.contiguous_format))


def _rotate_halves(x: Tensor, points: Tensor) -> Tensor:
    cosine, sine = _parts(points)
    first, second = x.to(cosine.dtype).chunk(2, -1)
    return torch.cat((first * cosine - second * sine, first * sine + second * cosine), -1).to(x.dtype)


def _parts(points: Tensor) -> tuple[Tensor, Tensor]:
    if points.is_complex():
        return points.real, points.imag
    return points[..., 0], points[..., 1]
