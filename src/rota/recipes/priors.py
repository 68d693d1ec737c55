"""Priors: the profile that a ClockRoPE arm was asked for, beside what its network drew."""

from collections.abc import Iterator

import numpy as np

from rota.analysis.profiles import ProfileFit
from rota.encodings.base import Encoding
from rota.encodings.clockrope import ClockRoPE
from rota.encodings.harmonic import HarmonicRotation
from rota.encodings.shares import share_pairs
from rota.encodings.split import Split
from rota.models.base import Network

__all__: list[str] = []


def realised_priors(encoding: Encoding, network: Network) -> list[ProfileFit]:
    """Each kernel of an encoding's ClockRoPE parts, with the frequencies that the network's layers hold.

    Returns:
        One fit for each kernel; none where the encoding has no ClockRoPE.
    """
    recipes = list(clocks_of(encoding))
    modules = [module for module in network.modules() if isinstance(module, HarmonicRotation)]
    fits = []
    for part, recipe in enumerate(recipes):
        layers = modules[part :: len(recipes)]  # modules come layer by layer, in each as the recipe has them
        drawn = np.stack([layer.cycles_per_second.cpu().numpy() for layer in layers])
        counts = share_pairs(drawn.shape[-1], len(recipe.kernels), recipe.shares)
        shards = np.split(drawn, np.cumsum(counts)[:-1], axis=-1)
        fits += [
            ProfileFit(str(kernel), kernel, shard)
            for kernel, shard in zip(recipe.kernels, shards, strict=True)
        ]
    return fits


def clocks_of(encoding: Encoding) -> Iterator[ClockRoPE]:
    """The ClockRoPE parts of an encoding, in order."""
    if isinstance(encoding, ClockRoPE):
        yield encoding
    elif isinstance(encoding, Split):
        for part in encoding.parts:
            yield from clocks_of(part)
