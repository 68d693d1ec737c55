"""Harmonics: a periodic profile given by its law's masses."""

from dataclasses import dataclass

import numpy as np

from rota.kernels.listed import ListedHarmonics
from rota.spectra.lattice import Lattice
from rota.spectra.waves import wave_sum
from rota.types import Float64Array
from rota.units import Lag, lag_seconds


@dataclass(frozen=True)
class Harmonics(ListedHarmonics):
    """``f(lag) = sum_k m_k cos(2 pi k lag / period) / sum_k m_k`` (ClockRoPE, Eq. 14 with any coefficients).

    What `project` makes of a periodic profile. Written ``harmonics(24h, [0, 1], [0.5, 0.5])``.
    """

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        period, harmonics, masses = self.arrays()
        return wave_sum(np.cos, np.mod(lag_seconds(lag), period) / period, harmonics, masses)

    def spectrum(self) -> Lattice:
        """Half of each mass on its harmonic, half on the negative one."""
        period, harmonics, masses = self.arrays()
        halves = np.where(harmonics == 0, 1.0, 0.5) * masses
        moving = harmonics > 0
        both = np.concatenate([-harmonics[moving][::-1], harmonics])
        return Lattice(period, both, np.concatenate([halves[moving][::-1], halves]))
