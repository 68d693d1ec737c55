"""Pairs of features times points: the one place where numbers are multiplied.

Interleaved pairs are complex numbers in memory, and eager PyTorch multiplies those as fast as it copies them;
bfloat16 and float16 are widened to float32, multiplied and rounded once. Halves, and everything under a
compiler, are turned in real arithmetic.
"""

import torch
from torch import Tensor

from rota.rotary.layouts import pair_views
from rota.rotary.points import cosine_and_sine, count

__all__: list[str] = []


def differentiable_product(x: Tensor, points: Tensor, layout: str) -> Tensor:
    """Rotate by real arithmetic out of place: what compilers fuse and autograd takes apart."""
    rotated = 2 * count(points)
    cosine, sine = cosine_and_sine(points)
    turn = _turn_interleaved if layout == "interleaved" else _turn_halves
    wide = x[..., :rotated].to(torch.promote_types(x.dtype, cosine.dtype))
    head: Tensor = turn(wide, cosine, sine).to(x.dtype)
    return head if rotated == x.shape[-1] else torch.cat((head, x[..., rotated:]), -1)


def _turn_interleaved(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Every feature times its cosine, plus its partner times its sine: one kernel that writes in order."""
    partner = x.unflatten(-1, (x.shape[-1] // 2, 2)).flip(-1).flatten(-2)
    own, across = torch.stack((cosine, cosine), -1), torch.stack((-sine, sine), -1)
    turned: Tensor = x * own.flatten(-2) + partner * across.flatten(-2)
    return turned


def _turn_halves(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    first, second = pair_views(x, "half")
    return torch.cat((first * cosine - second * sine, first * sine + second * cosine), -1)


def product(x: Tensor, points: Tensor, layout: str, out: Tensor | None = None) -> Tensor:
    """Rotate by complex points into ``out``, by default new memory laid out as ``x``; no gradients.

    Features beyond those of the points are copied. ``out`` may be ``x``.
    """
    result = _empty_like(x) if out is None else out
    rotated = 2 * count(points)
    if rotated < x.shape[-1] and result is not x:
        result[..., rotated:].copy_(x[..., rotated:])
    write = _write_interleaved if layout == "interleaved" else _write_halves
    write(x[..., :rotated], points, result[..., :rotated])
    return result


def _empty_like(x: Tensor) -> Tensor:
    """Memory in the order of ``x``, but with the features of a head side by side."""
    like = torch.empty_like(x)
    return like if like.stride(-1) == 1 else torch.empty(x.shape, dtype=x.dtype, device=x.device)


def as_complex(x: Tensor) -> Tensor:
    """Interleaved pairs as complex numbers: a view where memory allows, else a copy."""
    pairs = x.unflatten(-1, (x.shape[-1] // 2, 2))
    # Not contiguous(): that returns what starts at an odd offset as it is.
    return torch.view_as_complex(
        pairs if _aligned(pairs) else pairs.clone(memory_format=torch.contiguous_format)
    )


def _aligned(pairs: Tensor) -> bool:
    return (
        pairs.stride(-1) == 1
        and pairs.storage_offset() % 2 == 0
        and all(stride % 2 == 0 for stride in pairs.stride()[:-1])
    )


def _write_interleaved(x: Tensor, points: Tensor, out: Tensor) -> None:
    wide = x.to(torch.promote_types(x.dtype, points.real.dtype))
    pairs, target = as_complex(wide), out.unflatten(-1, (out.shape[-1] // 2, 2))
    if wide is x and _aligned(target):
        torch.mul(pairs, points, out=torch.view_as_complex(target))
    else:
        turned = pairs * points if wide is x else pairs.mul_(points)
        target.copy_(torch.view_as_real(turned))


def _write_halves(x: Tensor, points: Tensor, out: Tensor) -> None:
    cosine, sine = points.real.contiguous(), points.imag.contiguous()
    first, second = pair_views(x.to(torch.promote_types(x.dtype, cosine.dtype)), "half")
    targets = pair_views(out, "half")
    apart = out.dtype == first.dtype and out.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    parts = targets if apart else (torch.empty_like(first), torch.empty_like(second))
    torch.mul(first, cosine, out=parts[0]).addcmul_(second, sine, value=-1)
    torch.mul(first, sine, out=parts[1]).addcmul_(second, cosine)
    if not apart:
        for target, part in zip(targets, parts, strict=True):
            target.copy_(part)
