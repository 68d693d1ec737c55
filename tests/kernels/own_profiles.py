"""Profiles such as a user writes, found by name: ``own_profiles:morning``."""

import math

import numpy as np

DAY = 86_400.0


def morning(lag: np.ndarray) -> np.ndarray:
    """A routine: masses 0.4, 0.5 and 0.1 on the harmonics 0, 1 and 3 of a day."""
    turn = np.mod(lag, DAY) / DAY
    return 0.4 + 0.5 * np.cos(2 * np.pi * turn) + 0.1 * np.cos(6 * np.pi * turn)


def fading(lag: float) -> float:
    """Gaussian of two hours; numbers only."""
    return math.exp(-0.5 * (lag / 7200) ** 2)


NUMBER = 3
