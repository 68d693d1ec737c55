"""RFR: random Fourier rotations of time, for any profile that has a law."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch

from rota.encodings.base import Encoding, Rotation
from rota.encodings.drawn import REACH, draw_parts, harmonic_rotation, harmonics_of
from rota.encodings.real import RealRotation
from rota.encodings.site import Site
from rota.errors import InputError
from rota.frequencies.drawing import Frequencies
from rota.kernels.base import Kernel
from rota.spectra.base import Law
from rota.spectra.lattice import Lattice
from rota.spectra.mixture import Mixture
from rota.units import ticks_per_second


@dataclass(frozen=True)
class RFR(Encoding):
    """Rotation by time at frequencies drawn from the law of a profile (ClockRoPE, Algorithm 1).

    On average it multiplies ``q.k`` by the profile of the time between them (Prop. 3.1). Where frequencies
    are harmonics of one period in whole ticks of the clock, phases are exact, as ClockRoPE's are; other
    frequencies are real numbers, and phases right to 1e-6 rad.

    Attributes:
        kernel: Wanted profile; any that is positive definite.
        fold: Draw from the folded law (Eq. 20), so that all pairs turn the same way. That adds a term to the
            mean: see `expected_logit`.
        truncation: Largest frequency that is kept: a harmonic for a periodic profile, cycles per second for
            any other. By default nothing is cut: at three times its scale a law with a heavy tail has a good
            part of its mass left to come, Laplace's a fifth, and it is another profile without it.
        method: How frequencies are spread, as of `ClockRoPE`.
    """

    kernel: Kernel
    fold: bool = False
    truncation: float | None = None
    method: str = "nested_lattice"
    needs_clock = True

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise InputError(
                f'RFR takes one kernel, for instance RFR(Laplace("7d")), not {self.kernel!r}; add several up'
            )

    def rotation(self, site: Site) -> Rotation:
        """Draw the frequencies of one layer, for each key head its own, and build their rotation.

        Raises:
            InputError: The kernel has no law, nothing is left of it, sizes do not fit, or a frequency is too
                high for the clock.
        """
        law = self.law()
        (drawn,) = draw_parts([law], [site.pairs], site, self.method)
        if isinstance(law, Lattice) and _has_exact_phases(law, drawn, site.unit):
            return harmonic_rotation([law], [drawn], site, "RFR")
        cycles = torch.from_numpy(drawn.cycles_per_second)
        return RealRotation(cycles, num_heads=site.num_heads, unit=site.unit)

    def law(self) -> Law:
        """Law from which frequencies are drawn: truncated, and folded, where asked.

        Raises:
            InputError: The kernel has none, or nothing is left of it.
        """
        whole = self.kernel.spectrum()
        whole = whole.merged() if isinstance(whole, Mixture) else whole
        kept = whole if self.truncation is None else whole.truncate(self.truncation)
        return kept.fold() if self.fold else kept


def _has_exact_phases(law: Lattice, drawn: Frequencies, unit: str) -> bool:
    """Whether the period is whole ticks of the clock, and int64 holds the harmonics' residues."""
    period = Fraction(repr(float(law.period))) * ticks_per_second(unit)
    return period.denominator == 1 and int(np.abs(harmonics_of(drawn)).max()) * period < REACH
