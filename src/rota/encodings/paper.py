"""Draws as the ClockRoPE paper writes them, for those who repeat its runs."""

from collections.abc import Sequence

import numpy as np

from rota.encodings.site import Site
from rota.errors import InputError
from rota.frequencies.drawing import Frequencies
from rota.spectra.base import Law
from rota.spectra.lattice import Lattice

__all__ = ["paper_draws"]


def paper_draws(laws: Sequence[Law], counts: Sequence[int], site: Site) -> list[Frequencies]:
    """Independent draws from one generator a layer, with the seed ``base + layer`` (Algorithm 2, lines 2-6).

    The paper counts its layers from 1, so our layer 0 has the seed ``base + 1``. It draws head after head
    (Sec. 3.3.4), and here kernel after kernel. What it leaves open is numpy's ``default_rng`` and ``choice``,
    which draws from the law as it is: harmonics ``-s .. s`` of a symmetric one. As parts of `Split`, several
    clocks have generators of their own; the paper has no such case.

    Layers of runs with neighbouring seeds share their draws: of 12 layers, seeds 42 and 43 have 11 in common.
    The other methods do not.

    Args:
        laws: Of each kernel, truncated and folded.
        counts: Pairs of each.
        site: Where the rotation sits.

    Raises:
        InputError: Seed or layer is negative or does not fit 32 bits.
    """
    if not (0 <= site.seed < 2**32 and 0 <= site.layer < 2**32):
        raise InputError(f"seed {site.seed} and layer {site.layer}: expected integers from 0 to 2**32 - 1")
    entropy = np.random.SeedSequence(site.seed + site.layer + 1, spawn_key=site.path)
    rng = np.random.Generator(np.random.PCG64(entropy))
    return [_draw(law, site.num_kv_heads, pairs, rng) for law, pairs in zip(laws, counts, strict=True)]


def _draw(law: Law, heads: int, pairs: int, rng: np.random.Generator) -> Frequencies:
    if not isinstance(law, Lattice):
        return Frequencies(law.sample(heads * pairs, rng).reshape(heads, pairs), None, None)
    harmonics = rng.choice(law.harmonics, (heads, pairs), p=law.masses)
    whole = np.int64(law.period) if law.period == round(law.period) and law.period < 2**53 else None
    return Frequencies(harmonics / law.period, harmonics, whole)
