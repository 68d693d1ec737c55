"""Loops over tokens that numba compiles: a pair is read once, turned and written once.

They are written for a compiler, not for Python: memory is flat, axes are steps in it, whole vectors of pairs
are turned by `_vectors`, and a call is one array of whole numbers (`FRAME`), which any number of threads work
on. Every product and every sum is rounded, as in PyTorch's vectors of complex numbers: none are fused. Import
this file only where numba is: `native` does.
"""

import ctypes
import importlib
import inspect
import math
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch

from rota.rotary import _phases, _vectors
from rota.rotary._phases import real_part, sum_by_time_part, turns_part
from rota.rotary._vectors import (
    WIDTH,
    memory_at,
    next_part,
    sum_vector_across,
    turn_vector,
    turn_vector_back,
    turn_vector_gathered,
)

__all__: list[str] = []

numba: Any = importlib.import_module("numba")
_types = numba.types

BLOCK = 64  # tokens whose points stay in the cache while all heads pass
# Parts taken, parts, tokens; heads, length, pairs; a number that a loop knows; then of each memory: address,
# length, and the steps from one batch row, head and token to the next.
BEFORE, EACH, MEMORIES = 7, 5, 5
FRAME = BEFORE + EACH * MEMORIES
TURN = 2 * math.pi

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
                at = row * point_steps[0] + head * point_steps[1] + place * point_steps[2]
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
                at = row * point_steps[0] + place * point_steps[2]
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


def _sum_row(output, y, grad, g, totals, to, pairs):  # type: ignore[no-untyped-def]
    pair, many = 0, WIDTH // (2 * output.itemsize)
    while pair + many <= pairs:
        sum_vector_across(output, y + 2 * pair, grad, g + 2 * pair, totals, to + pair)
        pair += many
    while pair < pairs:
        a, b, c, d = y + 2 * pair, y + 2 * pair + 1, g + 2 * pair, g + 2 * pair + 1
        totals[to + pair] += output[a] * grad[d] - output[b] * grad[c]
        pair += 1


def _turn_row_back(output, y, grad, g, totals, to, out, x, points, at, pairs):  # type: ignore[no-untyped-def]
    pair, many = 0, WIDTH // (2 * output.itemsize)
    while pair + many <= pairs:
        turn_vector_back(
            output,
            y + 2 * pair,
            grad,
            g + 2 * pair,
            totals,
            to + pair,
            out,
            x + 2 * pair,
            points,
            at + 2 * pair,
        )
        pair += many
    while pair < pairs:
        a, b, c, d = (
            output[y + 2 * pair],
            output[y + 2 * pair + 1],
            grad[g + 2 * pair],
            grad[g + 2 * pair + 1],
        )
        cosine, sine = points[at + 2 * pair], points[at + 2 * pair + 1]
        totals[to + pair] += a * d - b * c
        out[x + 2 * pair] = c * cosine + d * sine
        out[x + 2 * pair + 1] = d * cosine - c * sine
        pair += 1


def _write_row(totals, sums, turn):  # type: ignore[no-untyped-def]
    for pair in range(len(sums)):
        sums[pair] = totals[pair]  # which rounds it
        sums[pair] *= turn


_write_row_part = numba.njit(inspect.unwrap(_write_row))
_sum_row_part, _turn_row_back_part = (
    numba.njit(inspect.unwrap(loop), inline="always") for loop in (_sum_row, _turn_row_back)
)


def _turn_back(output, grad, sums, out, points, turn, back, sizes, steps, begin, end):  # type: ignore[no-untyped-def]
    y_steps, g_steps, sum_steps, out_steps, point_steps = steps
    heads, length, pairs = sizes
    each = sum_steps[1] != 0  # heads do not share their phases
    totals = np.empty(BLOCK * pairs, np.float64)
    token = begin
    while token < end:
        row, first = token // length, token % length
        last = min(first + BLOCK, length, first + end - token)
        for head in range(heads):
            if each or head == 0:
                totals[:] = 0
            for place in range(first, last):
                y = row * y_steps[0] + head * y_steps[1] + place * y_steps[2]
                g = row * g_steps[0] + head * g_steps[1] + place * g_steps[2]
                to = (place - first) * pairs
                if back:
                    x = row * out_steps[0] + head * out_steps[1] + place * out_steps[2]
                    at = row * point_steps[0] + head * point_steps[1] + place * point_steps[2]
                    _turn_row_back_part(output, y, grad, g, totals, to, out, x, points, at, pairs)
                else:
                    _sum_row_part(output, y, grad, g, totals, to, pairs)
            if each or head == heads - 1:
                for place in range(first, last):
                    to = row * sum_steps[0] + head * sum_steps[1] + place * sum_steps[2]
                    own = totals[(place - first) * pairs : (place - first + 1) * pairs]
                    _write_row_part(own, sums[to : to + pairs], turn)
        token += last - first


def _memory(f, which, kind):  # type: ignore[no-untyped-def]
    """One of the memories of a frame."""
    at = BEFORE + EACH * which
    return numba.carray(memory_at(f[at]), f[at + 1], kind)


def _steps(f, which):  # type: ignore[no-untyped-def]
    at = BEFORE + EACH * which + 2
    return f[at], f[at + 1], f[at + 2]


_turn_part, _turn_gathered_part, _turn_back_part, _memory_of, _steps_of = (
    numba.njit(inspect.unwrap(loop)) for loop in (_turn, _turn_gathered, _turn_back, _memory, _steps)
)


def _entries(real: Any, made_of: int) -> tuple[Callable[[Any], None], ...]:
    """What a thread runs: it takes parts of the tokens, counted from ``made_of`` on, until none is left."""

    def turn(frame):  # type: ignore[no-untyped-def]
        f = numba.carray(frame, FRAME)
        x, out, points = _memory_of(f, 0, real), _memory_of(f, 1, real), _memory_of(f, 2, real)
        part = next_part(frame) - made_of
        while part < f[1]:
            _turn_part(
                x, out, points, (f[3], f[4], f[5]), _steps_of(f, 0), _steps_of(f, 1), _steps_of(f, 2),
                f[2] * part // f[1], f[2] * (part + 1) // f[1],
            )  # fmt: skip
            part = next_part(frame) - made_of

    def turn_gathered(frame):  # type: ignore[no-untyped-def]
        f = numba.carray(frame, FRAME)
        x, out, points = _memory_of(f, 0, real), _memory_of(f, 1, real), _memory_of(f, 2, real)
        index = _memory_of(f, 3, np.int64)
        part = next_part(frame) - made_of
        while part < f[1]:
            _turn_gathered_part(
                x, out, points, index, (f[3], f[4], f[5]), _steps_of(f, 0), _steps_of(f, 1), _steps_of(f, 2),
                f[2] * part // f[1], f[2] * (part + 1) // f[1],
            )  # fmt: skip
            part = next_part(frame) - made_of

    def sum_across(frame):  # type: ignore[no-untyped-def]
        f = numba.carray(frame, FRAME)
        output, grad, sums = _memory_of(f, 0, real), _memory_of(f, 1, real), _memory_of(f, 2, real)
        none = (0, 0, 0)
        part = next_part(frame) - made_of
        while part < f[1]:
            _turn_back_part(
                output, grad, sums, output, output, real(TURN), False, (f[3], f[4], f[5]),
                (_steps_of(f, 0), _steps_of(f, 1), _steps_of(f, 2), none, none),
                f[2] * part // f[1], f[2] * (part + 1) // f[1],
            )  # fmt: skip
            part = next_part(frame) - made_of

    def turn_back(frame):  # type: ignore[no-untyped-def]
        f = numba.carray(frame, FRAME)
        output, grad, sums = _memory_of(f, 0, real), _memory_of(f, 1, real), _memory_of(f, 2, real)
        out, points = _memory_of(f, 3, real), _memory_of(f, 4, real)
        part = next_part(frame) - made_of
        while part < f[1]:
            _turn_back_part(
                output, grad, sums, out, points, real(TURN), True, (f[3], f[4], f[5]),
                (_steps_of(f, 0), _steps_of(f, 1), _steps_of(f, 2), _steps_of(f, 3), _steps_of(f, 4)),
                f[2] * part // f[1], f[2] * (part + 1) // f[1],
            )  # fmt: skip
            part = next_part(frame) - made_of

    def turns_of_lattice(frame):  # type: ignore[no-untyped-def]
        f = numba.carray(frame, FRAME)
        turns, time = _memory_of(f, 0, real), _memory_of(f, 1, np.int64)
        harmonics, periods, (by_row, _, by_token) = (
            _memory_of(f, 2, np.int64),
            _memory_of(f, 3, np.int64),
            _steps_of(f, 1),
        )
        part = next_part(frame) - made_of
        while part < f[1]:
            turns_part(
                turns, time, harmonics, periods, f[6] != 0, f[4], (by_row, by_token),
                f[2] * part // f[1], f[2] * (part + 1) // f[1],
            )  # fmt: skip
            part = next_part(frame) - made_of

    def real_turns(frame):  # type: ignore[no-untyped-def]
        f = numba.carray(frame, FRAME)
        turns, time, cycles = _memory_of(f, 0, real), _memory_of(f, 1, np.int64), _memory_of(f, 2, np.float64)
        part = next_part(frame) - made_of
        while part < f[1]:
            real_part(
                turns, time, cycles, f[6], (f[3], f[4], f[5]),
                _steps_of(f, 0), _steps_of(f, 1), _steps_of(f, 2),
                f[2] * part // f[1], f[2] * (part + 1) // f[1],
            )  # fmt: skip
            part = next_part(frame) - made_of

    def sum_by_time(frame):  # type: ignore[no-untyped-def]
        f = numba.carray(frame, FRAME)
        grad, sums, time = _memory_of(f, 0, real), _memory_of(f, 1, np.float64), _memory_of(f, 2, np.int64)
        part = next_part(frame) - made_of
        while part < f[1]:
            sum_by_time_part(
                sums, grad, time, f[6], f[3], f[5], _steps_of(f, 2),
                f[2] * part // f[1], f[2] * (part + 1) // f[1],
            )  # fmt: skip
            part = next_part(frame) - made_of

    return turn, turn_gathered, sum_across, turn_back, turns_of_lattice, real_turns, sum_by_time


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
