"""ClockRoPE: rotation by time, at harmonics drawn from the law of a wanted profile."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from rota.encodings.base import Encoding, Rotation
from rota.encodings.drawn import draw_parts, harmonic_rotation
from rota.encodings.numerals import require_switch, require_whole, shown
from rota.encodings.real import RealRotation
from rota.encodings.shards import Shard, law_to_draw, shards_of
from rota.encodings.shares import read_shares, share_pairs
from rota.encodings.site import Site
from rota.encodings.split import SplitRotation
from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.wrapped_gaussian import WrappedGaussian
from rota.spectra.base import Law

KEEP, DROP = "keep", "drop"
_KERNELS = 'kernels of rota.kernels; write WrappedGaussian("24h", "2h"), or read text with parse_kernel'


@dataclass(frozen=True)
class ClockRoPE(Encoding):
    """Random Fourier rotations of time for routines (ClockRoPE, Algorithm 2), and for any profile with a law.

    What is periodic turns at whole harmonics, with phases exact to the tick; the rest of a profile, such as
    recency, at real frequencies. Pairs are dealt to the parts of a profile by their shares of f(0).

    Attributes:
        kernels: Wanted profiles: periodic, dying away, or weighted sums of such; several share the features
            (Sec. 3.3.4).
        fold: Draw from the folded law (Eq. 20), so that all pairs turn the same way.
        truncation: Largest harmonic, in a weighted sum of each part; by default ``ceil(3 sigma*)`` of each.
        shares: Of the features for each kernel; equal by default.
        method: How frequencies are spread: ``"nested_lattice"`` and the other methods of `draw`, of which
            ``"iid"`` draws independently; or ``"paper"``, which draws from the generators that Algorithm 2
            names.
        static: ``"keep"``: as the law has it, pairs that never turn carry the level to which a profile falls,
            and see content alone. ``"drop"``: all pairs turn, and the profile is what is left without that
            level. A level adds the same to the logits of all events that match in content, which a softmax
            does not see; and beside RoPE, whose slow pairs see content at every distance, it is had twice.
    """

    kernels: Sequence[Kernel] = (WrappedGaussian("24h", "2h"),)
    fold: bool = True
    truncation: int | None = None
    shares: Sequence[float] | None = None
    method: str = "nested_lattice"
    static: str = KEEP
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
        if self.static not in (KEEP, DROP):
            raise InputError(f'static {shown(self.static)} of ClockRoPE: expected "{KEEP}" or "{DROP}"')
        if self.truncation is not None:
            require_whole(self.truncation, 0, "truncation", "ClockRoPE")
        if not self.kernels:
            raise InputError(
                'ClockRoPE has no kernel: expected at least one, for instance WrappedGaussian("24h", "2h")'
            )

    def rotation(self, site: Site) -> Rotation:
        """Draw the frequencies of one layer, for each key head its own, and build their rotation.

        Returns:
            A `HarmonicRotation` where every profile is periodic, a `RealRotation` where none has harmonics,
            else the two side by side.

        Raises:
            InputError: Sizes do not fit, a period is not whole ticks of the clock, a harmonic of it is too
                high for exact phases, or a kernel has no law.
        """
        shards = self.shards(site.pairs)
        drawn = draw_parts(
            [shard.law for shard in shards], [shard.pairs for shard in shards], site, self.method
        )
        exact = [(shard.law, each) for shard, each in zip(shards, drawn, strict=True) if shard.exact]
        real = [each.cycles_per_second for shard, each in zip(shards, drawn, strict=True) if not shard.exact]
        built: list[Rotation] = []
        if exact:
            laws, harmonics = zip(*exact, strict=True)
            built.append(harmonic_rotation(laws, harmonics, site, "ClockRoPE"))
        if real:
            cycles = torch.from_numpy(np.concatenate(real, axis=1))
            built.append(RealRotation(cycles, num_heads=site.num_heads, unit=site.unit, name="ClockRoPE"))
        if len(built) == 1:
            return built[0]
        still_real = sum(each.shape[1] for each in real)
        return SplitRotation(built, [2 * (site.pairs - still_real), 2 * still_real])

    def shards(self, pairs: int) -> list[Shard]:
        """What each of a head's pairs is drawn from: harmonics first, then real frequencies.

        Args:
            pairs: Of a head.

        Raises:
            InputError: The pairs are too few for the kernels, or a kernel has no law.
        """
        counts = share_pairs(pairs, len(self.kernels), self.shares)
        found = [
            shard
            for place, (kernel, count) in enumerate(zip(self.kernels, counts, strict=True))
            for shard in shards_of(self.law(kernel), count, place)
        ]
        return sorted(found, key=lambda shard: not shard.exact)

    def law(self, kernel: Kernel) -> Law:
        """Law from which a kernel's frequencies are drawn: truncated, and folded where asked.

        A sum of profiles of several periods has harmonics of their least common multiple, and each part is
        truncated by itself. What has no period keeps its density.

        Raises:
            InputError: The kernel has no law, or ``static="drop"`` leaves nothing of it.
        """
        return law_to_draw(kernel, self.truncation, still=self.static == KEEP, fold=self.fold)
