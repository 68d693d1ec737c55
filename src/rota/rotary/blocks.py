"""Large tensors cut into blocks: scratch memory stays small, and in the cache, however large the input is."""

from collections.abc import Iterator

import torch
from torch import Tensor

__all__: list[str] = []

BLOCK = 2**18  # features: a mebibyte of float32; a smaller block would be lost in the calls of its kernels


def blocks(x: Tensor, *beside: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Cut ``x``, and what broadcasts to all its axes but the last, along the longest of these axes.

    A block has `BLOCK` features, or one index of that axis. Where there is no memory to save, or the pieces
    would be counted for good (by a tracer, which would find other lengths later), ``x`` is a single block.

    Args:
        x: Shape ``(..., features)``.
        beside: Shapes ``(..., anything)``, whose other axes broadcast to those of ``x``.

    Yields:
        Views of the same part of each, ``x`` first.
    """
    if x.ndim < 2 or not _has_memory(x) or x.numel() <= BLOCK:
        yield (x, *beside)
        return
    axis = max(range(-x.ndim, -1), key=lambda place: x.shape[place])
    step = max(1, BLOCK * x.shape[axis] // x.numel())
    count = -(-x.shape[axis] // step)
    yield from zip(*(_pieces(tensor, axis, step, count) for tensor in (x, *beside)), strict=True)


def _pieces(tensor: Tensor, axis: int, step: int, count: int) -> tuple[Tensor, ...]:
    shared = tensor.ndim < -axis or tensor.shape[axis] == 1
    return (tensor,) * count if shared else tensor.split(step, axis)


def _has_memory(x: Tensor) -> bool:
    """It is on the CPU, neither fake nor seen by a tracer; elsewhere many small kernels would cost more."""
    return (
        x.device.type == "cpu"
        and type(x) in (Tensor, torch.nn.Parameter)
        and torch._C._get_tracing_state() is None
    )
