"""ClockRoPE: rotation by time, at harmonics drawn from the law of a wanted profile."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rota.encodings.base import Encoding
from rota.encodings.drawn import draw_parts, harmonic_rotation
from rota.encodings.harmonic import HarmonicRotation
from rota.encodings.numerals import require_switch, require_whole, shown
from rota.encodings.shares import read_shares, share_pairs
from rota.encodings.site import Site
from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.weighted_sum import WeightedSum
from rota.kernels.wrapped_gaussian import WrappedGaussian
from rota.spectra.lattice import Lattice
from rota.spectra.mixture import Mixture

_KERNELS = 'kernels of rota.kernels; write WrappedGaussian("24h", "2h"), or read text with parse_kernel'


@dataclass(frozen=True)
class ClockRoPE(Encoding):
    """Random Fourier rotations of time for routines (ClockRoPE, Algorithm 2).

    Attributes:
        kernels: Wanted profiles, each periodic or a weighted sum of such; several share the features
            (Sec. 3.3.4).
        fold: Draw from the folded law (Eq. 20), so that all pairs turn the same way.
        truncation: Largest harmonic, in a weighted sum of each part; by default ``ceil(3 sigma*)`` of each.
        shares: Of the features for each kernel; equal by default.
        method: How frequencies are spread: ``"nested_lattice"`` and the other methods of `draw`, of which
            ``"iid"`` draws independently; or ``"paper"``, which draws from the generators that Algorithm 2
            names.
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
        if isinstance(self.kernels, str) or not isinstance(self.kernels, Iterable):
            raise InputError(f"ClockRoPE kernels {shown(self.kernels)}: expected a list of {_KERNELS}")
        object.__setattr__(self, "kernels", tuple(self.kernels))
        for kernel in self.kernels:
            if not isinstance(kernel, Kernel):
                raise InputError(f"ClockRoPE kernel {shown(kernel)}: expected one of the {_KERNELS}")
        object.__setattr__(self, "shares", read_shares(self.shares, "ClockRoPE"))
        require_switch(self.fold, "fold", "ClockRoPE")
        if self.truncation is not None:
            require_whole(self.truncation, 0, "truncation", "ClockRoPE")
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
        return harmonic_rotation(laws, draw_parts(laws, counts, site, self.method), site, "ClockRoPE")

    def law(self, kernel: Kernel) -> Lattice:
        """Law from which a kernel's harmonics are drawn: truncated, and folded where asked.

        A sum of profiles of several periods has harmonics of their least common multiple; each part is
        truncated by itself.

        Raises:
            InputError: The kernel, or a part of it, is not periodic, or the periods have no common multiple.
        """
        _require_periodic(kernel)
        truncated = kernel.spectrum().truncate(self.truncation)
        merged = truncated.merged() if isinstance(truncated, Mixture) else truncated
        if not isinstance(merged, Lattice):
            raise InputError(
                f"ClockRoPE needs periods with a common multiple that can be counted exactly: {kernel} has "
                "none; give its parts as kernels of their own, which share the features"
            )
        return merged.fold() if self.fold else merged


def _require_periodic(kernel: Kernel) -> None:
    """Refuse a kernel whose law is not all on harmonics, and name the part of a sum that is not."""
    if isinstance(kernel, WeightedSum):
        for part in kernel.kernels:
            _require_periodic(part)
        return
    law = kernel.spectrum()
    if not all(isinstance(part, Lattice) for part in (law.laws if isinstance(law, Mixture) else [law])):
        raise InputError(
            f"ClockRoPE: expected a periodic profile, and {kernel} is not: it has no harmonics; use RFR, "
            "which takes any profile"
        )
