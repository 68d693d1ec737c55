"""Columns of a law: what each part of a profile looks like in the bins of a lift."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rota.types import Float64Array

__all__: list[str] = []

_MOST_HARMONICS = 64  # of one period
_LEAST_DECAY = 2.0  # bins: a decay that is over within one looks like nothing else
_SAME = 1e-9  # of a harmonic's number: two periods share it


@dataclass(frozen=True)
class Harmonic:
    """A cosine of ``number`` turns in ``period`` seconds."""

    period: float
    number: int


@dataclass(frozen=True)
class Decay:
    """``exp(-lag / width)``, in seconds."""

    width: float


@dataclass(frozen=True)
class Level:
    """What stays at every lag."""


Column = Level | Harmonic | Decay


def columns_of(
    periods: Sequence[float], *, width: float, resolution: float, longest: float
) -> tuple[Column, ...]:
    """Parts that a profile may have.

    Harmonics of each period up to 64, and no faster than two bins, or two steps of the log's clock, can show;
    one that is also a harmonic of a shorter period is that one's. Decays by octaves, from two bins to half of
    the longest lag: what fades more slowly cannot be told from what stays.

    Args:
        periods: Seconds.
        width: Of a bin, in seconds.
        resolution: Step of the log's clock, in seconds.
        longest: Lag, in seconds.
    """
    found: list[Column] = [Level()]
    finest = 2 * max(width, resolution)
    for place, period in enumerate(sorted(periods)):
        shorter = sorted(periods)[:place]
        for number in range(1, min(_MOST_HARMONICS, int(period / finest + 1e-9)) + 1):
            if not any(_is_whole(number * other / period) for other in shorter):
                found.append(Harmonic(period, number))
    octaves = int(np.floor(np.log2(longest / 2 / (_LEAST_DECAY * width)) + 1e-9))
    return (*found, *(Decay(_LEAST_DECAY * width * 2.0**octave) for octave in range(octaves + 1)))


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < _SAME * max(number, 1.0)


def averaged(columns: Sequence[Column], lags: Float64Array, width: float) -> Float64Array:
    """Mean of each column over each bin, shape ``(bins, columns)``.

    A bin is an average over its width: a harmonic is damped there by ``sinc(width / cycle)``, and a fit to
    means of columns divides that out.

    Args:
        columns: What is averaged.
        lags: Centres of the bins in seconds, shape ``(bins,)``.
        width: Of a bin.
    """
    return np.stack([_mean(column, lags, width) for column in columns], axis=1)


def _mean(column: Column, lags: Float64Array, width: float) -> Float64Array:
    if isinstance(column, Harmonic):
        turns = np.mod(lags, column.period) * column.number / column.period
        return np.asarray(np.cos(2 * np.pi * turns) * np.sinc(width * column.number / column.period))
    if isinstance(column, Decay):
        return (_area(lags + width / 2, column) - _area(lags - width / 2, column)) / width
    return np.ones(lags.shape)


def _area(lag: Float64Array, decay: Decay) -> Float64Array:
    """Integral of ``exp(-|x| / width)`` from 0 to a lag."""
    return np.asarray(-np.sign(lag) * decay.width * np.expm1(-np.abs(lag) / decay.width))
