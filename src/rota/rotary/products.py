"""Pairs of features times points: the one place where numbers are multiplied.

Interleaved pairs are complex numbers in memory, and eager PyTorch multiplies those as fast as it copies them;
bfloat16 and float16 are widened to float32, multiplied and rounded once. Where numba is installed, it turns
float32 and float64 pairs. Halves, and everything under a
compiler, are turned in real arithmetic. What needs scratch memory is turned block by block.
"""

import torch
from torch import Tensor

from rota.rotary import native
from rota.rotary.blocks import blocks
from rota.rotary.layouts import beginning, pair_views, paired, unpaired
from rota.rotary.points import cosine_and_sine, count

__all__: list[str] = []


def differentiable_product(x: Tensor, points: Tensor, layout: str) -> Tensor:
    """Rotate by real arithmetic out of place: what compilers fuse and autograd takes apart."""
    rotated = 2 * count(points)
    cosine, sine = cosine_and_sine(points)
    turn = _turn_interleaved if layout == "interleaved" else _turn_halves
    wide = beginning(x, rotated).to(torch.promote_types(x.dtype, cosine.dtype))
    head: Tensor = turn(wide, cosine, sine).to(x.dtype)
    return head if rotated == x.shape[-1] else torch.cat((head, x[..., rotated:]), -1)


def _turn_interleaved(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Every feature times its cosine, plus its partner times its sine: one kernel that writes in order."""
    partner = unpaired(paired(x).flip(-1))
    own, across = torch.stack((cosine, cosine), -1), torch.stack((-sine, sine), -1)
    return x * unpaired(own) + partner * unpaired(across)


def _turn_halves(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    first, second = pair_views(x, "half")
    return torch.cat((first * cosine - second * sine, first * sine + second * cosine), -1)


def product(x: Tensor, points: Tensor, layout: str, out: Tensor | None = None) -> Tensor:
    """Rotate by complex points into ``out``, by default new memory laid out as ``x``; no gradients.

    Features beyond those of the points are copied. ``out`` may be ``x``, and may share memory with it.
    """
    apart = out is None or not _share_memory(x, out)
    if not apart and out is not None and not _same_place(x, out) and _may_overlap(x, out):
        return out.copy_(product(x, points, layout))  # else a pair could be written over before it is read
    result = native.empty_rows_like(x) if out is None else out
    rotated = 2 * count(points)
    if rotated < x.shape[-1] and result is not x:
        result[..., rotated:].copy_(x[..., rotated:])
    head, target = x[..., :rotated], result[..., :rotated]
    if layout == "interleaved" and native.turn_into(head, points, target):
        return result
    if layout == "interleaved" and needs_no_copy(head, points, target):
        write_interleaved(head, points, target)
    elif layout == "half" and apart and not _widened(head, points):
        _write_halves(head, points, pair_views(target, "half"))
    else:
        for part in blocks(head, points, target):
            write_interleaved(*part) if layout == "interleaved" else _write_halves_by_copy(*part)
    return result


def _share_memory(x: Tensor, out: Tensor) -> bool:
    # Not data_ptr(), which fake tensors do not have.
    return bool(x.untyped_storage()._cdata == out.untyped_storage()._cdata)


def _same_place(x: Tensor, out: Tensor) -> bool:
    return x.storage_offset() == out.storage_offset() and x.stride() == out.stride()


def _may_overlap(x: Tensor, out: Tensor) -> bool:
    """Whether the spans of two views of one memory meet; rows of theirs may still lie beside each other."""
    (first, first_end), (second, second_end) = _span(x), _span(out)
    return first <= second_end and second <= first_end


def _span(view: Tensor) -> tuple[int, int]:
    first = int(view.storage_offset())
    return first, first + sum((size - 1) * step for size, step in zip(view.shape, view.stride(), strict=True))


def as_complex(x: Tensor) -> Tensor:
    """Interleaved pairs as complex numbers: a view where memory allows, else a copy."""
    pairs = paired(x)
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


def _widened(x: Tensor, points: Tensor) -> bool:
    return torch.promote_types(x.dtype, points.real.dtype) != x.dtype


def needs_no_copy(x: Tensor, points: Tensor, out: Tensor) -> bool:
    """Whether the pairs of both lie in memory as complex numbers, no wider than the points."""
    return not _widened(x, points) and _aligned(paired(x)) and _aligned(paired(out))


def write_interleaved(x: Tensor, points: Tensor, out: Tensor) -> None:
    """Rotate into ``out``, which may be ``x``, by way of a copy unless `needs_no_copy`."""
    target = paired(out)
    wide = x.to(torch.promote_types(x.dtype, points.real.dtype))
    pairs = as_complex(wide)
    if wide is x and _aligned(target):
        torch.mul(pairs, points, out=torch.view_as_complex(target))
        return
    fresh = wide is not x or not _aligned(paired(x))
    target.copy_(torch.view_as_real(pairs.mul_(points) if fresh else pairs * points))


def _write_halves(x: Tensor, points: Tensor, targets: tuple[Tensor, Tensor]) -> None:
    """Rotate into two halves that share no memory with ``x``."""
    cosine, sine = points.real.contiguous(), points.imag.contiguous()
    first, second = pair_views(x, "half")
    torch.mul(first, cosine, out=targets[0]).addcmul_(second, sine, value=-1)
    torch.mul(first, sine, out=targets[1]).addcmul_(second, cosine)


def _write_halves_by_copy(x: Tensor, points: Tensor, out: Tensor) -> None:
    """Rotate into ``out``, which may be ``x``, by way of a copy."""
    wide = x.to(torch.promote_types(x.dtype, points.real.dtype))
    copies = tuple(torch.empty_like(half) for half in pair_views(wide, "half"))
    _write_halves(wide, points, (copies[0], copies[1]))
    for target, copy in zip(pair_views(out, "half"), copies, strict=True):
        target.copy_(copy)
