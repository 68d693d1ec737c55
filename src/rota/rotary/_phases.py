"""Loops from int64 times to turns, bit for bit those of `phase.turns_of_lattice` and `phase.real_turns`.

Each operation in float64 is the same, in the same order, but all are done while a block of tokens lies in
the cache. Times are reduced without a division of integers, which takes many times longer. Import this file
only where numba is.
"""

import importlib
import inspect
from typing import Any

import numpy as np

__all__: list[str] = []

numba: Any = importlib.import_module("numba")

BLOCK = 64  # tokens whose numbers stay in the cache
HELD = 2**52  # whole numbers that float64 holds, and their halves


def _reduce(ticks, period, residues):  # type: ignore[no-untyped-def]
    """Take times modulo a period, as float64 finds whole periods where it holds the times.

    A quotient is a 1/period or more below the next whole number, and is rounded by less than half of that.
    """
    turn, held = np.float64(period), True
    for place in range(len(ticks)):
        held &= -HELD < ticks[place] < HELD
    if not held:
        for place in range(len(ticks)):
            residues[place] = ticks[place] % period
        return
    for place in range(len(ticks)):
        residues[place] = ticks[place] - np.int64(np.floor(np.float64(ticks[place]) / turn)) * period


def _turn_small(residues, harmonic, period, turns):  # type: ignore[no-untyped-def]
    """Where float64 holds the multiples."""
    turn, factor = np.float64(period), np.float64(harmonic)
    for place in range(len(residues)):
        product = np.float64(residues[place]) * factor
        turns[place] = (product - np.floor(product / turn + 0.5) * turn) / turn


def _turn_any(residues, harmonic, period, turns):  # type: ignore[no-untyped-def]
    turn = np.float64(period)
    for place in range(len(residues)):
        cycles = residues[place] * harmonic
        whole = np.int64(np.floor(np.float64(cycles) / turn + 0.5))
        turns[place] = np.float64(cycles - whole * period) / turn


def _round(turns, rounded):  # type: ignore[no-untyped-def]
    """Take out whole turns, then cast; what rounds up to half a turn is minus half a turn."""
    for place in range(len(turns)):
        within = np.float32(turns[place] - np.floor(turns[place] + 0.5))
        rounded[place] = within - np.float32(1) if within >= np.float32(0.5) else within


_reduce_block, _small_block, _any_block, _round_block = (
    numba.njit(inspect.unwrap(loop), error_model="numpy")
    for loop in (_reduce, _turn_small, _turn_any, _round)
)


def _turns(turns, time, harmonics, periods, small, length, time_steps, begin, end):  # type: ignore[no-untyped-def]
    distinct, each = len(harmonics), len(periods) > 1
    ticks, residues = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    wide, rounded = np.empty(BLOCK, np.float64), np.empty(BLOCK, np.float32)
    token = begin
    while token < end:
        row, first = token // length, token % length
        many = min(BLOCK, length - first, end - token)
        for place in range(many):
            ticks[place] = time[row * time_steps[0] + (first + place) * time_steps[1]]
        for which in range(distinct):
            period = periods[which if each else 0]
            if each or which == 0:
                _reduce_block(ticks[:many], period, residues)
            if small:
                _small_block(residues[:many], harmonics[which], period, wide)
            else:
                _any_block(residues[:many], harmonics[which], period, wide)
            _round_block(wide[:many], rounded)
            for place in range(many):
                turns[(token + place) * distinct + which] = rounded[place]
        token += many


turns_part = numba.njit(inspect.unwrap(_turns), error_model="numpy")


def _real_row(turns, whole, rest, split, cycles):  # type: ignore[no-untyped-def]
    """Turns of a token, by its whole seconds and, where there may be more, the rest of its time."""
    for pair in range(len(turns)):
        product = whole * cycles[pair]
        wide = product - np.floor(product + 0.5)
        if split:
            wide += rest * cycles[pair]
            wide -= np.floor(wide + 0.5)
        within = np.float32(wide)
        turns[pair] = within - np.float32(1) if within >= np.float32(0.5) else within


_real_row_part = numba.njit(inspect.unwrap(_real_row), error_model="numpy")


def _real(turns, time, cycles, ticks, sizes, turn_steps, time_steps, cycle_steps, begin, end):  # type: ignore[no-untyped-def]
    heads, length, pairs = sizes
    for token in range(begin, end):
        row, place = token // length, token % length
        for head in range(heads):
            tick = time[row * time_steps[0] + head * time_steps[1] + place * time_steps[2]]
            whole = tick if ticks == 1 else tick // ticks
            rest = np.float64(tick - whole * ticks) / np.float64(ticks)
            to = row * turn_steps[0] + head * turn_steps[1] + place * turn_steps[2]
            at = row * cycle_steps[0] + head * cycle_steps[1] + place * cycle_steps[2]
            own, frequencies = turns[to : to + pairs], cycles[at : at + pairs]
            _real_row_part(own, np.float64(whole), rest, ticks != 1, frequencies)


real_part = numba.njit(inspect.unwrap(_real), error_model="numpy")


def _add(sums, grad, seconds):  # type: ignore[no-untyped-def]
    for pair in range(len(sums)):
        sums[pair] += np.float64(grad[pair]) * seconds


_add_part = numba.njit(inspect.unwrap(_add), error_model="numpy")


def _sum_by_time(sums, grad, time, ticks, heads, pairs, time_steps, begin, end):  # type: ignore[no-untyped-def]
    """Sum gradients times seconds over the tokens of each row and head, which lie in order."""
    sums[begin * heads * pairs : end * heads * pairs] = 0
    length = len(grad) // len(sums)
    for row in range(begin, end):
        for head in range(heads):
            to = (row * heads + head) * pairs
            for place in range(length):
                tick = time[row * time_steps[0] + head * time_steps[1] + place]
                start = to * length + place * pairs
                seconds = np.float64(tick) / np.float64(ticks)
                _add_part(sums[to : to + pairs], grad[start : start + pairs], seconds)


sum_by_time_part = numba.njit(inspect.unwrap(_sum_by_time), error_model="numpy")
