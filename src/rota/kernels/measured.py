"""Measured: a profile read off a log, by its parts: what stays, what recurs, and what fades."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.certificate import Certificate, Verdict
from rota.kernels.constant import Constant
from rota.kernels.harmonics import Harmonics
from rota.kernels.laplace import Laplace
from rota.kernels.weighted_sum import WeightedSum
from rota.spectra.mixture import Mixture
from rota.types import Float64Array
from rota.units import Lag, duration_text, seconds

__all__ = ["Measured"]

_KINDS = (Constant, Harmonics, Laplace)
_SLIGHT = 0.01  # share of f(0)


@dataclass(frozen=True)
class Measured(Kernel):
    """A share that never changes, harmonics of each period that was found, and decays: with weights of f(0).

    What `fit_law` makes of a log's lift. Weights are not negative and every part has a law, so it is positive
    definite by construction, and its spectrum is a mixture. Encodings draw its harmonics whole: how many
    there are was decided when they were measured, and no truncation is due. Written
    ``measured(constant() * 0.3 + harmonics(24h, [1, 2], [0.3, 0.2]) * 0.5 + laplace(12h) * 0.2)``.

    Attributes:
        kernel: The parts: `Constant`, `Harmonics` and `Laplace`, one of them or a weighted sum.

    Raises:
        InputError: There is another profile among them.
    """

    kernel: Kernel

    def __post_init__(self) -> None:
        for _, part in self._shares():
            if not isinstance(part, _KINDS):
                raise InputError(
                    f"measured profile of {part}: expected constant, harmonics and laplace, or a sum of "
                    "them; other profiles are used as they are"
                )

    def _shares(self) -> Iterator[tuple[float, Kernel]]:
        if isinstance(self.kernel, WeightedSum):
            yield from zip(self.kernel.shares.tolist(), self.kernel.kernels, strict=True)
        else:
            yield 1.0, self.kernel

    @property
    def static(self) -> float:
        """Share of f(0) that no time between two events takes away; a harmonic 0 counts as such."""
        return float(sum(share * _still(part) for share, part in self._shares()))

    @property
    def periodic(self) -> tuple[tuple[float, Harmonics], ...]:
        """Share of f(0) and harmonics of each period."""
        return tuple((share, part) for share, part in self._shares() if isinstance(part, Harmonics))

    @property
    def recency(self) -> tuple[tuple[float, Laplace], ...]:
        """Share of f(0) and width of each decay."""
        return tuple((share, part) for share, part in self._shares() if isinstance(part, Laplace))

    @property
    def in_words(self) -> str:
        """Its parts in one line: ``"24h to harmonic 20 (54%), recency of 16h (22%), static (24%)"``.

        Decays of under 1 % each are named together.
        """
        said = [
            f"{duration_text(seconds(part.period))} to harmonic {max(part.harmonics)} ({share:.0%})"
            for share, part in self.periodic
        ]
        said += [
            f"recency of {duration_text(seconds(part.width))} ({share:.0%})"
            for share, part in self.recency
            if share >= _SLIGHT
        ]
        slight = sum(share for share, _ in self.recency if share < _SLIGHT)
        if slight:
            said.append(f"fainter recency ({slight:.1%})")
        return ", ".join([*said, f"static ({self.static:.0%})"])

    def __call__(self, lag: Lag) -> Float64Array:
        """Profile at a lag in seconds, any shape."""
        return self.kernel(lag)

    def spectrum(self) -> Mixture:
        """Mixture of the parts' laws."""
        law = self.kernel.spectrum()
        return law if isinstance(law, Mixture) else Mixture([law], np.ones(1))

    def certificate(self) -> Certificate:
        """Yes, exactly: the weights are not negative."""
        said = "a measured profile sums parts whose laws are known, with weights that are not negative"
        return Certificate(Verdict.YES, said)


def _still(part: Kernel) -> float:
    """Share of a part that is at frequency 0."""
    return float(part.spectrum().mass_at(0.0))
