"""The rotation in one pass over memory, where numba is installed: eager, on the CPU, float32 and float64.

Elsewhere, and without numba, PyTorch's own operations do the same in more passes. Turns of integer
harmonics, found in one pass too, have the same bits. Rotations round alike where PyTorch takes whole vectors
of pairs. Its loops for the rest, and for what is not contiguous, may fuse a product and the sum, so that a
number differs in the last bit of its products.
"""

import importlib
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

from rota.rotary import threads
from rota.rotary.clock import values_known

__all__: list[str] = []

SWITCH = "ROTA_NATIVE"  # 0 in the environment: never compile

LEAST = 2**16  # features: with fewer, as in decoding, a call of PyTorch's operations costs less than ours

Axis = tuple[int, ...]  # size, then its step in each memory

_on = True


@contextmanager
def plain_pytorch() -> Iterator[None]:
    """Rotate without numba for a while, in all threads: to compare the two."""
    global _on
    before, _on = _on, False
    try:
        yield
    finally:
        _on = before


@cache
def available() -> bool:
    """Whether numba is installed, works and is wanted."""
    if os.environ.get(SWITCH) == "0" or find_spec("numba") is None:
        return False
    try:
        numba = importlib.import_module("numba")
    except ImportError as error:  # it asks for some versions of NumPy alone
        warnings.warn(
            f"numba is installed but cannot be imported ({error}): rotations run in plain PyTorch; install a "
            f"numba that fits, or set {SWITCH}=0",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return not numba.config.DISABLE_JIT


def turn_gathered(x: Tensor, points: Tensor, index: Tensor) -> Tensor | None:
    """Rotate by those of a token's points that an index names, into new memory laid out as ``x``.

    Args:
        x: Features, shape ``(batch, heads, length, 2 * pairs)``.
        points: Complex, shape ``(batch, length, distinct)``.
        index: Shape ``(heads, pairs)``.

    Returns:
        The rotated features, or ``None`` where they must be rotated otherwise.
    """
    if not _fits(x, points) or not values_known(index):
        return None
    lowest, highest = torch.aminmax(index)
    if lowest < 0 or highest >= points.shape[2]:  # PyTorch will say so
        return None
    out, index = empty_rows_like(x), index.contiguous()
    (batch, heads, length, features), (by_row, by_token, _) = x.shape, points.stride()
    _run(
        "turn_gathered",
        (x, out, points, index),
        (batch, heads, length, features // 2),
        (x.stride()[:3], out.stride()[:3], (by_row, 0, by_token)),
    )
    return out


def turns_of_lattice(time: Tensor, harmonic: Tensor, period: Tensor, *, small: bool) -> Tensor | None:
    """Turns of `phase.turns_of_lattice`, bit for bit, at each token's distinct harmonics.

    Args:
        time: Clock ticks, shape ``(batch, length)``.
        harmonic: Shape ``(distinct,)``.
        period: As many, or one for all.
        small: As there.

    Returns:
        Shape ``(batch, length, distinct)``, or ``None`` where they must be computed otherwise.
    """
    if not values_known(time):  # a compiler must not ask how many there are
        return None
    count = time.numel() * harmonic.numel()
    if count < LEAST // 8 or not _usable(count, time, harmonic, period) or period.min() < 2:
        return None
    turns = torch.empty(*time.shape, *harmonic.shape, dtype=torch.float32, device=time.device)
    steps = ((0, 0, 0), (time.stride(0), 0, time.stride(1)), (int(small), 0, 0))
    _run("turns_of_lattice", (turns, time, harmonic, period), (time.shape[0], 1, time.shape[1], 0), steps)
    return turns


def turn_into(x: Tensor, points: Tensor, out: Tensor) -> bool:
    """Rotate interleaved pairs into ``out``: ``x`` itself, or memory that shares no pair with it.

    Args:
        x: Features, shape ``(..., 2 * pairs)``.
        points: Complex, shape ``(..., pairs)``, broadcastable.
        out: Of the shape of ``x``.

    Returns:
        Whether it was done; else nothing was written.
    """
    if not _fits(x, points, out):
        return False
    axes = _three_axes(x.shape, _over(x, points), x.stride(), out.stride())
    if axes is None:
        return False
    (batch, *row), (heads, *head), (length, *token) = axes
    by_points, by_x, by_out = zip(row, head, token, strict=True)
    _run("turn", (x, out, points), (batch, heads, length, points.shape[-1]), (by_x, by_out, by_points))
    if not out.is_inference():
        torch.autograd.graph.increment_version(out)  # so that autograd notices, as with PyTorch's own
    return True


def phase_gradient(output: Tensor, grad: Tensor, sums: Tensor) -> bool:
    """Sum in float64, over what shares a phase, how far each pair's gradient points to where it would turn.

    Args:
        output: Rotated features, shape ``(..., 2 * pairs)``.
        grad: Their gradient.
        sums: Where to write, shape ``(..., pairs)``, that of the turns.

    Returns:
        Whether it was done; else nothing was written.
    """
    if not _fits(output, grad, sums):
        return False
    axes = _three_axes(output.shape, _over(output, sums), output.stride(), grad.stride())
    if axes is None or axes[1][1] != 0 or any(size > 1 and step == 0 for size, step, *_ in axes[::2]):
        return False  # heads have each their own sum, or tokens would write over each other's
    (batch, *row), (heads, *head), (length, *token) = axes
    by_sum, by_output, by_grad = zip(row, head, token, strict=True)
    sizes = (batch, heads, length, sums.shape[-1])
    _run("sum_across", (output, grad, sums), sizes, (by_output, by_grad, by_sum))
    return True


def _fits(x: Tensor, *others: Tensor) -> bool:
    """Whether all may be read and written beside PyTorch: enough real memory of one kind."""
    return (
        x.numel() >= LEAST
        and x.dtype in (torch.float32, torch.float64)
        and all(other.dtype in (x.dtype, x.dtype.to_complex()) for other in others)
        and _usable(x.numel(), x, *others)
    )


def _usable(work: int, *memories: Tensor) -> bool:
    """Whether loops of ours may run on these memories, with the threads that so much work is worth."""
    return (
        _on
        and all(_is_memory(memory) for memory in memories)
        and available()
        and (threads.wanted(work) == 1 or threads.team() is not None)
    )


def _is_memory(tensor: Tensor) -> bool:
    """Whether its rows lie in memory as its values: no view that negates, conjugates or wraps others."""
    return (
        values_known(tensor)
        and tensor.layout == torch.strided
        and tensor.numel() > 0
        and (tensor.stride(-1) == 1 or tensor.shape[-1] == 1)
        and not (tensor.is_neg() or tensor.is_conj() or tensor._is_zerotensor())
        and not (torch._is_functional_tensor(tensor) or torch._C._functorch.is_legacy_batchedtensor(tensor))
        and tensor.data_ptr() % tensor.element_size() == 0
    )


def _run(
    name: str, memories: Sequence[Tensor], sizes: tuple[int, int, int, int], steps: Sequence[Sequence[int]]
) -> None:
    """Hand memories over by their addresses; this frame holds them until the loop is done."""
    from rota.rotary import _loops  # it imports numba

    batch, *others = sizes
    features = memories[0].numel()
    wanted = threads.wanted(features)
    places = [number for memory in memories for number in (memory.data_ptr(), _extent(memory))]
    places += [0] * (8 - len(places))
    frame = [0, 4 * wanted, batch * others[1], *places, *others, *(step for three in steps for step in three)]
    _loops.run(memories[0].dtype, name, frame, threads.team(), wanted)


def _extent(tensor: Tensor) -> int:
    """How many numbers lie from the first to the last."""
    return 1 + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))


def _over(x: Tensor, shared_by: Tensor) -> Sequence[int]:
    """Steps in what broadcasts to ``x``, 0 along the axes that share it."""
    return shared_by.expand(*x.shape[:-1], shared_by.shape[-1]).stride()


def _three_axes(shape: Sequence[int], *steps: Sequence[int]) -> tuple[Axis, Axis, Axis] | None:
    """Batch, heads, length: what stands before the last axis, with the one that shares points as heads.

    Axes that follow each other in every memory become one. ``None`` if more are left.
    """
    axes: list[Axis] = []
    for size, *own in zip(shape[:-1], *(step[:-1] for step in steps), strict=True):
        if axes and all(before == size * step for before, step in zip(axes[-1][1:], own, strict=True)):
            axes[-1] = (axes[-1][0] * size, *own)
        elif size > 1:
            axes.append((size, *own))
    one: Axis = (1,) + (0,) * len(steps)
    heads = next((axis for axis in axes if axis[1] == 0), axes[1] if len(axes) == 3 else one)
    others = [axis for axis in axes if axis is not heads]
    if len(others) > 2:
        return None
    batch, length = [one] * (2 - len(others)) + others
    return batch, heads, length


def empty_rows_like(x: Tensor) -> Tensor:
    """New memory in the order of ``x``, but with the features of a head side by side."""
    like = torch.empty_like(x)
    return like if like.stride(-1) == 1 else torch.empty(x.shape, dtype=x.dtype, device=x.device)
