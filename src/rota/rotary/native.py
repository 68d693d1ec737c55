"""The rotation in one pass over memory, where numba is installed: eager, on the CPU, float32 and float64.

Elsewhere, and without numba, PyTorch's own operations do the same in more passes. Turns, found in one pass
too, have the same bits. Rotations round alike where PyTorch takes whole vectors of pairs. Its loops for the
rest, and for what is not contiguous, may fuse a product and the sum, so that a number differs in the last bit
of its products. Gradients of phases and frequencies are summed in float64: in another order than PyTorch's,
but in the same one by any number of threads.
"""

import importlib
import math
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
    steps = ((0, 0, 0), (time.stride(0), 0, time.stride(1)))
    sizes = (time.shape[0], 1, time.shape[1], len(harmonic))
    _run("turns_of_lattice", (turns, time, harmonic, period), sizes, steps, int(small))
    return turns


def real_turns(time: Tensor, cycles: Tensor, ticks_per_second: int) -> Tensor | None:
    """Turns of `phase.real_turns`, bit for bit; no gradients.

    Args:
        time: Clock ticks, shape ``(..., 1)``.
        cycles: Per second, float64, shape ``(..., pairs)``; the two broadcast.
        ticks_per_second: Of the clock.

    Returns:
        Shape ``(..., pairs)``, or ``None`` where they must be computed otherwise.
    """
    if not (
        values_known(time) and values_known(cycles) and time.ndim and cycles.ndim and time.shape[-1] == 1
    ):
        return None
    shape = torch.broadcast_shapes(time.shape, cycles.shape)
    count = math.prod(shape)
    if count < LEAST // 8 or not _usable(count, time, cycles):
        return None
    turns = torch.empty(shape, dtype=torch.float32, device=time.device)
    axes = _three_axes(shape, turns.stride(), _over(turns, time), _over(turns, cycles))
    if axes is None:
        return None
    sizes, steps = _frame_of(axes, shape[-1])
    _run("real_turns", (turns, time, cycles), sizes, steps, ticks_per_second)
    return turns


def sum_by_time(grad: Tensor, time: Tensor, ticks_per_second: int) -> Tensor | None:
    """Sum in float64, over the tokens of each row, the gradients of `real_turns` times seconds.

    Args:
        grad: Shape ``(..., length, pairs)``.
        time: Clock ticks, shape ``(..., length, 1)``, broadcastable.
        ticks_per_second: Of the clock.

    Returns:
        Float64, shape ``(..., 1, pairs)``, or ``None`` where they must be summed otherwise.
    """
    if not (values_known(grad) and values_known(time) and 2 <= grad.ndim <= 4 and grad.is_contiguous()):
        return None
    if grad.numel() < LEAST // 8 or not _usable(grad.numel(), grad, time):
        return None
    *rows, length, pairs = grad.shape
    *steps, step, _ = time.expand(*rows, length, 1).stride()
    if step != 1:
        return None
    none = [1] * (2 - len(rows))
    batch, heads = [*rows, *none]
    sums = torch.empty(*rows, 1, pairs, dtype=torch.float64, device=grad.device)
    of_time = (*steps, *(0 for _ in none), 0)
    _run(
        "sum_by_time",
        (grad, sums, time),
        (batch, heads, 1, pairs),
        ((0,) * 3, (0,) * 3, of_time),
        ticks_per_second,
    )
    return sums


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
    sizes, (by_points, by_x, by_out) = _frame_of(axes, points.shape[-1])
    _run("turn", (x, out, points), sizes, (by_x, by_out, by_points))
    if not out.is_inference():
        torch.autograd.graph.increment_version(out)  # so that autograd notices, as with PyTorch's own
    return True


def phase_gradient(output: Tensor, grad: Tensor, shape: Sequence[int]) -> Tensor | None:
    """Gradient of the turns of a rotation, summed in float64 over what shares a phase and then rounded.

    Args:
        output: Rotated features, shape ``(..., 2 * pairs)``.
        grad: Their gradient.
        shape: Of the turns, ``(..., pairs)``.

    Returns:
        Of the dtype of the features, or ``None`` where it must be computed otherwise.
    """
    if not _fits(output, grad):
        return None
    sums = torch.empty(shape, dtype=output.dtype, device=output.device)
    axes = _three_axes(output.shape, _over(output, sums), output.stride(), grad.stride())
    if axes is None or not _sums_apart(axes):
        return None
    sizes, (by_sum, by_output, by_grad) = _frame_of(axes, shape[-1])
    _run("sum_across", (output, grad, sums), sizes, (by_output, by_grad, by_sum))
    return sums


def turn_back(output: Tensor, grad: Tensor, points: Tensor) -> tuple[Tensor, Tensor] | None:
    """Gradients of the features and, as `phase_gradient`, of the turns of a rotation, in one pass.

    Args:
        output: Rotated features, shape ``(..., features)``; those beyond the points' were not rotated.
        grad: Their gradient.
        points: By which they were rotated, complex, of the shape of the turns.

    Returns:
        Both, the second of the dtype of the features, or ``None`` where they must be computed otherwise.
    """
    if not _fits(output, grad, points):
        return None
    rotated, into = 2 * points.shape[-1], empty_rows_like(grad)
    sums = torch.empty(points.shape, dtype=output.dtype, device=output.device)
    heads = output[..., :rotated], grad[..., :rotated], into[..., :rotated]
    shared = _over(heads[0], sums), _over(heads[0], points)
    axes = _three_axes(heads[0].shape, *shared, *(memory.stride() for memory in heads))
    if axes is None or not _sums_apart(axes):
        return None
    sizes, (by_sum, by_points, by_output, by_grad, by_into) = _frame_of(axes, points.shape[-1])
    steps = (by_output, by_grad, by_sum, by_into, by_points)
    _run("turn_back", (*heads[:2], sums, heads[2], points), sizes, steps)
    if rotated < grad.shape[-1]:
        into[..., rotated:].copy_(grad[..., rotated:])
    return into, sums


def _sums_apart(axes: Sequence[Axis]) -> bool:
    """Whether tokens add to sums of their own; heads may share theirs."""
    return not any(size > 1 and step == 0 for size, step, *_ in axes[::2])


def _frame_of(axes: Sequence[Axis], pairs: int) -> tuple[tuple[int, int, int, int], list[Axis]]:
    """Sizes, and the steps in each memory."""
    (batch, *row), (heads, *head), (length, *token) = axes
    return (batch, heads, length, pairs), list(zip(row, head, token, strict=True))


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
    name: str,
    memories: Sequence[Tensor],
    sizes: tuple[int, int, int, int],
    steps: Sequence[Sequence[int]],
    known: int = 0,
) -> None:
    """Hand memories over by their addresses; this frame holds them until the loop is done.

    Args:
        name: Of the loop.
        memories: The first says how much work there is, and of which kind.
        sizes: Batch, heads, length, pairs.
        steps: From one batch row, head and token to the next, in as many memories as have such.
        known: A number that the loop knows.
    """
    from rota.rotary import _loops  # it imports numba

    batch, *others = sizes
    wanted = threads.wanted(memories[0].numel())
    frame = [0, 4 * wanted, batch * others[1], *others, known]
    none = [(0, 0, 0)] * (len(memories) - len(steps))
    for memory, three in zip(memories, [*steps, *none], strict=True):
        parts = 1 + memory.is_complex()
        frame += [memory.data_ptr(), parts * _extent(memory), *(parts * step for step in three)]
    frame += [0] * (_loops.FRAME - len(frame))
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
