"""From laws to the rotations that turn by them: what ClockRoPE and RFR have in common."""

from collections.abc import Sequence

import numpy as np
import torch

from rota.encodings.harmonic import HarmonicRotation
from rota.encodings.paper import paper_draws
from rota.encodings.site import Site
from rota.errors import InputError
from rota.frequencies.base import SamplingMethod
from rota.frequencies.drawing import Frequencies, draw
from rota.rooms import names, offers
from rota.spectra.base import Law
from rota.spectra.lattice import Lattice
from rota.types import Int64Array
from rota.units import whole_ticks

__all__: list[str] = []

_PAPER = "paper"
REACH = 2**62  # harmonic times period, beyond which int64 residues are not exact


def draw_parts(laws: Sequence[Law], counts: Sequence[int], site: Site, method: str) -> list[Frequencies]:
    """Draw the frequencies of one layer from each law, for each key head its own.

    Args:
        laws: Truncated and folded.
        counts: Pairs from each.
        site: Where the rotation sits.
        method: ``"paper"``, which draws from a law as it is, or a method of `draw`, which spreads the
            absolute frequency.

    Raises:
        InputError: Unknown method, or a seed that is none.
    """
    if method == _PAPER:
        return paper_draws(laws, counts, site)
    if method not in names("frequencies"):  # `offers` would import every method, and scipy.stats with one
        known = (*offers("frequencies", SamplingMethod), _PAPER)
        raise InputError(f"unknown method {method!r}: expected one of {', '.join(known)}")
    return [
        draw(
            law,
            pairs,
            site.num_kv_heads,
            site.seed,
            site.layer,
            method,
            path=(*site.path, part) if part else site.path,
        )
        for part, (law, pairs) in enumerate(zip(laws, counts, strict=True))
    ]


def harmonic_rotation(
    laws: Sequence[Lattice], drawn: Sequence[Frequencies], site: Site, name: str
) -> HarmonicRotation:
    """Rotation at the harmonics that were drawn from lattices, part beside part.

    Args:
        laws: Of each part.
        drawn: From each.
        site: Where the rotation sits.
        name: Of the recipe, for errors.

    Raises:
        InputError: A period is not whole ticks of the clock, or a harmonic of it is too high for exact
            phases.
    """
    harmonics = np.concatenate([harmonics_of(each) for each in drawn], axis=1)
    ticks = np.array([whole_ticks(law.period, site.unit) for law in laws], np.int64)
    periods = np.repeat(ticks, [each.cycles_per_second.shape[1] for each in drawn])
    if np.any(np.abs(harmonics).astype(np.float64) * periods >= REACH):
        raise InputError(
            f"harmonic {np.abs(harmonics).max()} of a period of {periods.max()} {site.unit}: too high "
            "for exact phases; use a coarser time unit, a wider profile or a smaller truncation"
        )
    return HarmonicRotation(
        torch.from_numpy(harmonics),
        torch.from_numpy(periods),
        num_heads=site.num_heads,
        unit=site.unit,
        name=name,
    )


def harmonics_of(drawn: Frequencies) -> Int64Array:
    """Integers of a draw from a lattice.

    Raises:
        InputError: It is from another law.
    """
    if drawn.harmonics is None:
        raise InputError("a rotation at harmonics needs a draw from a lattice law: use RFR for other laws")
    return drawn.harmonics
