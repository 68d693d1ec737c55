"""Loops from int64 times to turns at integer harmonics, bit for bit those of `phase.turns_of_lattice`.

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
