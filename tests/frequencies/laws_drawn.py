"""Laws of every kind, for the tests of this folder."""

import numpy as np
from scipy import stats

from rota.kernels import Cosine, WrappedGaussian
from rota.spectra import Atoms, Density, Lattice, Law, Mixture
from rota.types import Float64Array

HOUR, DAY = 3600, 86_400
DAILY, WEEKLY = WrappedGaussian("24h", "2h"), WrappedGaussian("7d", "14h")


def gaussian(width: float) -> Density:
    """Law of ``exp(-lag^2 / (2 width^2))``."""
    spread = 1 / (2 * np.pi * width)
    return Density(stats.norm(scale=spread), lambda lag: np.exp(-0.5 * (lag / width) ** 2), spread)


def laplace(width: float) -> Density:
    """Law of ``exp(-|lag| / width)``: Cauchy's."""
    spread = 1 / (2 * np.pi * width)
    return Density(stats.cauchy(scale=spread), lambda lag: np.exp(-np.abs(lag) / width), spread)


def band(highest: float) -> Density:
    """Uniform up to a frequency."""
    spread = highest / np.sqrt(3)
    uniform = stats.uniform(-highest, 2 * highest)

    def conjugate(lag: Float64Array) -> Float64Array:
        return np.sin(np.pi * highest * lag) * np.sinc(highest * lag)

    return Density(uniform, lambda lag: np.sinc(2 * highest * lag), spread, conjugate)


LAWS: dict[str, Law] = {
    "lattice": DAILY.spectrum().truncate(),
    "lopsided": Lattice(3600.0, np.array([-2, 0, 1, 2]), np.array([0.1, 0.2, 0.4, 0.3])),
    "gaussian": gaussian(2 * HOUR),
    "laplace": laplace(2 * HOUR),
    "two periods": (0.7 * DAILY + 0.3 * WEEKLY).spectrum().truncate(),
    "atoms": Atoms(np.array([-2e-5, 0.0, np.pi * 1e-6]), np.array([0.25, 0.25, 0.5])),
    "mixed": Mixture([Cosine("24h").spectrum(), laplace(2 * HOUR)], np.array([0.4, 0.6])),
}
LAWS |= {f"{name}, folded": law.fold() for name, law in LAWS.items()}
