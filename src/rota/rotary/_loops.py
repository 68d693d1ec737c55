"""Loops over tokens that numba compiles: a pair is read once, turned and written once.

They are written for a compiler, not for Python: memory is flat, axes are steps in it, whole vectors of pairs
are turned by `_vectors`, and a call is one array of whole numbers (`FRAME`), which any number of threads work
on. Every product and every sum is rounded, as in PyTorch's vectors of complex numbers: none are fused. Import
this file only where numba is: `native` does.
"""

import ctypes
import importlib
import inspect
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch

from rota.rotary import _phases, _vectors
from rota.rotary._phases import turns_part
from rota.rotary._vectors import WIDTH, memory_at, next_part, turn_vector, turn_vector_gathered

__all__: list[str] = []

numba: Any = importlib.import_module("numba")
_types = numba.types

BLOCK = 64  # tokens whose points stay in the cache while all heads pass
# Parts taken, parts, tokens; address and length of four memories; heads, length, pairs; and the steps in
# three of the memories from one batch row, head and token to the next.
FRAME = 23

Entry = Callable[[int], None]


def _turn(x, out, points, sizes, x_steps, out_steps, point_steps, begin, end):  # type: ignore[no-untyped-def]
    heads, length, pairs = sizes
    many = WIDTH // (2 * x.itemsize)
    token = begin
    while token < end:
        row, first = token // length, token % length
        last = min(first + BLOCK, length, first + end - token)
        for head in range(heads):
            for place in range(first, last):
                start = row * x_steps[0] + head * x_steps[1] + place * x_steps[2]
                to = row * out_steps[0] + head * out_steps[1] + place * out_steps[2]
                at = 2 * (row * point_steps[0] + head * point_steps[1] + place * point_steps[2])
                pair = 0
                while pair + many <= pairs:
                    turn_vector(x, start + 2 * pair, out, to + 2 * pair, points, at + 2 * pair)
                    pair += many
                while pair < pairs:
                    a, b = x[start + 2 * pair], x[start + 2 * pair + 1]
                    cosine, sine = points[at + 2 * pair], points[at + 2 * pair + 1]
                    out[to + 2 * pair] = a * cosine - b * sine
                    out[to + 2 * pair + 1] = a * sine + b * cosine
                    pair += 1
        token += last - first


def _turn_gathered(x, out, points, index, sizes, x_steps, out_steps, point_steps, begin, end):  # type: ignore[no-untyped-def]
    heads, length, pairs = sizes
    many = WIDTH // (2 * x.itemsize)
    token = begin
    while token < end:
        row, first = token // length, token % length
        last = min(first + BLOCK, length, first + end - token)
        for head in range(heads):
            for place in range(first, last):
                start = row * x_steps[0] + head * x_steps[1] + place * x_steps[2]
                to = row * out_steps[0] + head * out_steps[1] + place * out_steps[2]
                at = 2 * (row * point_steps[0] + place * point_steps[2])
                pair = 0
                while pair + many <= pairs:
                    turn_vector_gathered(
                        x, start + 2 * pair, out, to + 2 * pair, points, at, index, head * pairs + pair
                    )
                    pair += many
                while pair < pairs:
                    known = at + 2 * index[head * pairs + pair]
                    a, b = x[start + 2 * pair], x[start + 2 * pair + 1]
                    cosine, sine = points[known], points[known + 1]
                    out[to + 2 * pair] = a * cosine - b * sine
                    out[to + 2 * pair + 1] = a * sine + b * cosine
                    pair += 1
        token += last - first


def _sum_across(output, grad, sums, sizes, output_steps, grad_steps, sum_steps, begin, end):  # type: ignore[no-untyped-def]
    heads, length, pairs = sizes
    totals = np.empty(BLOCK * pairs, np.float64)
    token = begin
    while token < end:
        row, first = token // length, token % length
        last = min(first + BLOCK, length, first + end - token)
        totals[:] = 0
        for head in range(heads):
            for place in range(first, last):
                from_y = row * output_steps[0] + head * output_steps[1] + place * output_steps[2]
                from_g = row * grad_steps[0] + head * grad_steps[1] + place * grad_steps[2]
                y, g = output[from_y : from_y + 2 * pairs], grad[from_g : from_g + 2 * pairs]
                total = totals[(place - first) * pairs : (place - first + 1) * pairs]
                for pair in range(pairs):
                    total[pair] += y[2 * pair] * g[2 * pair + 1] - y[2 * pair + 1] * g[2 * pair]
        for place in range(first, last):
            to = row * sum_steps[0] + place * sum_steps[2]
            sums[to : to + pairs] = totals[(place - first) * pairs : (place - first + 1) * pairs]
        token += last - first


_turn_part, _turn_gathered_part, _sum_part = (
    numba.njit(inspect.unwrap(loop)) for loop in (_turn, _turn_gathered, _sum_across)
)


def _entries(real: Any, made_of: int) -> tuple[Callable[[Any], None], ...]:
    """What a thread runs: it takes parts of the tokens, counted from ``made_of`` on, until none is left."""

    def turn(frame):  # type: ignore[no-untyped-def]
        f = numba.carray(frame, FRAME)
        x, out = numba.carray(memory_at(f[3]), f[4], real), numba.carray(memory_at(f[5]), f[6], real)
        points = numba.carray(memory_at(f[7]), 2 * f[8], real)
        part = next_part(frame) - made_of
        while part < f[1]:
            _turn_part(
                x, out, points, (f[11], f[12], f[13]), (f[14], f[15], f[16]), (f[17], f[18], f[19]),
                (f[20], f[21], f[22]), f[2] * part // f[1], f[2] * (part + 1) // f[1],
            )  # fmt: skip
            part = next_part(frame) - made_of

    def turn_gathered(frame):  # type: ignore[no-untyped-def]
        f = numba.carray(frame, FRAME)
        x, out = numba.carray(memory_at(f[3]), f[4], real), numba.carray(memory_at(f[5]), f[6], real)
        points = numba.carray(memory_at(f[7]), 2 * f[8], real)
        index = numba.carray(memory_at(f[9]), f[10], np.int64)
        part = next_part(frame) - made_of
        while part < f[1]:
            _turn_gathered_part(
                x, out, points, index, (f[11], f[12], f[13]), (f[14], f[15], f[16]), (f[17], f[18], f[19]),
                (f[20], f[21], f[22]), f[2] * part // f[1], f[2] * (part + 1) // f[1],
            )  # fmt: skip
            part = next_part(frame) - made_of

    def sum_across(frame):  # type: ignore[no-untyped-def]
        f = numba.carray(frame, FRAME)
        output, grad = numba.carray(memory_at(f[3]), f[4], real), numba.carray(memory_at(f[5]), f[6], real)
        sums = numba.carray(memory_at(f[7]), f[8], real)
        part = next_part(frame) - made_of
        while part < f[1]:
            _sum_part(
                output, grad, sums, (f[11], f[12], f[13]), (f[14], f[15], f[16]), (f[17], f[18], f[19]),
                (f[20], f[21], f[22]), f[2] * part // f[1], f[2] * (part + 1) // f[1],
            )  # fmt: skip
            part = next_part(frame) - made_of

    def turns_of_lattice(frame):  # type: ignore[no-untyped-def]
        f = numba.carray(frame, FRAME)
        turns = numba.carray(memory_at(f[3]), f[4], real)
        time = numba.carray(memory_at(f[5]), f[6], np.int64)
        harmonics = numba.carray(memory_at(f[7]), f[8], np.int64)
        periods = numba.carray(memory_at(f[9]), f[10], np.int64)
        part = next_part(frame) - made_of
        while part < f[1]:
            turns_part(
                turns, time, harmonics, periods, f[20] != 0, f[12], (f[17], f[19]),
                f[2] * part // f[1], f[2] * (part + 1) // f[1],
            )  # fmt: skip
            part = next_part(frame) - made_of

    return turn, turn_gathered, sum_across, turns_of_lattice


@cache
def _made_of() -> int:
    """A number of the files that numba, which keeps what it compiled, does not look at: it looks at this one.

    It looks at numbers that loops close over, too: so other files make other loops.
    """
    specs: list[Any] = [module.__spec__ for module in (_vectors, _phases)]
    return zlib.crc32(b"".join(spec.loader.get_data(spec.origin) for spec in specs))


@cache
def compiled(dtype: torch.dtype, name: str) -> Any:
    """One of the loops for float32 or float64, as C calls it; seconds at the first use, then from a file."""
    real = np.float64 if dtype == torch.float64 else np.float32
    entries = {entry.__name__: entry for entry in map(inspect.unwrap, _entries(real, _made_of()))}
    signature = _types.void(_types.CPointer(_types.int64))
    try:
        entry = numba.cfunc(signature, cache=True)(entries[name])
    except (OSError, RuntimeError):  # no folder for the file can be written, or the disk is full
        entry = numba.cfunc(signature)(entries[name])
    return entry


def run(dtype: torch.dtype, name: str, frame: list[int], team: Any, threads: int) -> None:
    """Run a loop on the numbers of a frame, by a team of threads or, without one, in this thread."""
    entry = compiled(dtype, name)
    numbers = (ctypes.c_int64 * FRAME)(_made_of(), *frame[1:])
    if team is None or threads < 2:
        entry.ctypes(numbers)
    else:
        team(entry.address, ctypes.addressof(numbers), threads, 0)
