"""ClockRoPE: rotation by time, at harmonics drawn from the law of a wanted profile."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from rota.encodings.base import Encoding
from rota.encodings.harmonic import HarmonicRotation
from rota.encodings.shares import share_pairs
from rota.encodings.site import Site
from rota.errors import InputError
from rota.frequencies.drawing import Frequencies, draw
from rota.kernels.base import Kernel
from rota.kernels.wrapped_gaussian import WrappedGaussian
from rota.spectra.lattice import Lattice
from rota.units import whole_ticks


@dataclass(frozen=True)
class ClockRoPE(Encoding):
    """Random Fourier rotations of time for routines (ClockRoPE, Algorithm 2).

    Attributes:
        kernels: Wanted profiles, each with a lattice law; several share the features (Sec. 3.3.4).
        fold: Draw from the folded law (Eq. 20), so that all pairs turn the same way.
        truncation: Largest harmonic; by default ``ceil(3 sigma*)`` of each law.
        shares: Of the features for each kernel; equal by default.
        method: How frequencies are spread: ``"nested_lattice"``, or ``"iid"`` as in the paper.
    """

    kernels: Sequence[Kernel] = (WrappedGaussian("24h", "2h"),)
    fold: bool = True
    truncation: int | None = None
    shares: Sequence[float] | None = None
    method: str = "nested_lattice"
    needs_clock = True

    def __post_init__(self) -> None:
        if isinstance(self.kernels, Kernel):
            raise InputError(f"ClockRoPE takes a list of kernels: write ClockRoPE([{self.kernels!r}])")
        object.__setattr__(self, "kernels", tuple(self.kernels))
        object.__setattr__(self, "shares", None if self.shares is None else tuple(self.shares))
        if not self.kernels:
            raise InputError(
                'ClockRoPE has no kernel: expected at least one, for instance WrappedGaussian("24h", "2h")'
            )

    def rotation(self, site: Site) -> HarmonicRotation:
        """Draw the harmonics of one layer, for each key head its own, and build their rotation.

        Raises:
            InputError: Sizes do not fit, a period is not whole ticks of the clock, or a harmonic of it is
                too high for exact phases.
        """
        counts = share_pairs(site.pairs, len(self.kernels), self.shares)
        laws = [self.law(kernel) for kernel in self.kernels]
        draws = [
            draw(
                law,
                pairs,
                site.num_kv_heads,
                site.seed,
                site.layer,
                self.method,
                path=(*site.path, part) if part else site.path,
            )
            for part, (law, pairs) in enumerate(zip(laws, counts, strict=True))
        ]
        harmonics = np.concatenate([_harmonics(drawn) for drawn in draws], axis=1)
        ticks = [whole_ticks(law.period, site.unit) for law in laws]
        periods = np.repeat(np.array(ticks, np.int64), counts)
        if np.any(np.abs(harmonics).astype(np.float64) * periods >= 2.0**62):
            raise InputError(
                f"harmonic {np.abs(harmonics).max()} of a period of {periods.max()} {site.unit}: too high "
                "for exact phases; use a coarser time unit, a wider profile or a smaller truncation"
            )
        return HarmonicRotation(
            torch.from_numpy(harmonics), torch.from_numpy(periods), num_heads=site.num_heads, unit=site.unit
        )

    def law(self, kernel: Kernel) -> Lattice:
        """Law from which a kernel's harmonics are drawn: truncated, and folded where asked.

        Raises:
            InputError: The kernel is not periodic.
        """
        spectrum = kernel.spectrum()
        if not isinstance(spectrum, Lattice):
            raise InputError(f"ClockRoPE needs a periodic profile: {kernel} has no lattice law")
        truncated = spectrum.truncate(self.truncation)
        return truncated.fold() if self.fold else truncated


def _harmonics(drawn: Frequencies) -> np.ndarray:
    if drawn.harmonics is None:
        raise InputError("ClockRoPE needs harmonics of a whole period: expected a lattice law")
    return drawn.harmonics
