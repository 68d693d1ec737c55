"""Priors: the profile that an arm's encoding was asked for, beside the frequencies of its network."""

from collections.abc import Iterator

import numpy as np

from rota.analysis.profiles import ProfileFit
from rota.encodings.base import Encoding, Rotation
from rota.encodings.clockrope import ClockRoPE
from rota.encodings.combination import Combination, CombinedRotation
from rota.encodings.harmonic import HarmonicRotation
from rota.encodings.learnable_clock import LearnableClock, LearnableRotation
from rota.encodings.real import RealRotation
from rota.encodings.rfr import RFR
from rota.encodings.shares import share_pairs
from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.models.base import Network
from rota.types import Float64Array

__all__: list[str] = []

Clock = ClockRoPE | RFR | LearnableClock
_BY_FREQUENCY = HarmonicRotation | RealRotation | LearnableRotation


def realised_priors(encoding: Encoding, network: Network) -> list[ProfileFit]:
    """Each profile of an encoding, with the frequencies that the network's layers hold for it.

    A part's frequencies are those of the modules that stand where the part does in each layer, so that none
    is taken for another's, whatever else turns by time beside it. What is learned is as the network holds it
    now, and the label says so.

    Args:
        encoding: Of every layer of the network.
        network: Built with it.

    Returns:
        One fit for each kernel; none where the encoding has no profile.

    Raises:
        InputError: A layer of the network was built with another encoding.
    """
    places = [list(_clocks(encoding, layer)) for layer in _layers(network)]
    return [fit for layers in zip(*places, strict=True) for fit in _fits(layers[0][0], layers)]


def clocks_of(encoding: Encoding) -> Iterator[Clock]:
    """The parts of an encoding that turn at frequencies of a profile, in order."""
    if isinstance(encoding, Clock):
        yield encoding
    elif isinstance(encoding, Combination):
        for part in encoding.parts:
            yield from clocks_of(part)


def _layers(network: Network) -> list[Rotation]:
    """Rotations of a network's layers that are not parts of others, in order; its repeat head is no layer."""
    head = set() if network.repeat_head is None else set(network.repeat_head.modules())
    rotations = [
        module for module in network.modules() if isinstance(module, Rotation) and module not in head
    ]
    parts = {id(inner) for outer in rotations for inner in outer.modules() if inner is not outer}
    return [rotation for rotation in rotations if id(rotation) not in parts]


def _clocks(encoding: Encoding, module: object) -> Iterator[tuple[Clock, Float64Array]]:
    """Clocks of an encoding with the frequencies of what was built of each, shape ``(heads, pairs)``."""
    if isinstance(encoding, Combination):
        parts = list(module.parts) if isinstance(module, CombinedRotation) else []
        if len(parts) != len(encoding.parts):
            raise _other(encoding, module)
        for part, built in zip(encoding.parts, parts, strict=True):
            yield from _clocks(part, built)
    elif isinstance(encoding, Clock):
        if not isinstance(module, _BY_FREQUENCY):
            raise _other(encoding, module)
        yield encoding, module.cycles_per_second.detach().cpu().numpy()


def _other(encoding: Encoding, module: object) -> InputError:
    return InputError(
        f"a layer holds a {type(module).__name__}, which {type(encoding).__name__} does not build: pass the "
        "encoding that the network was built with"
    )


def _fits(clock: Clock, layers: tuple[tuple[Clock, Float64Array], ...]) -> Iterator[ProfileFit]:
    drawn = np.stack([frequencies for _, frequencies in layers])
    learned = isinstance(clock, LearnableClock)
    kernels, counts = _shards(clock, drawn.shape[-1])
    for kernel, shard in zip(kernels, np.split(drawn, np.cumsum(counts)[:-1], axis=-1), strict=True):
        yield ProfileFit(f"{kernel}, frequencies learned" if learned else str(kernel), kernel, shard)


def _shards(clock: Clock, pairs: int) -> tuple[tuple[Kernel, ...], list[int]]:
    """Kernels of a clock, and the pairs of a head that each has."""
    if isinstance(clock, RFR):
        return (clock.kernel,), [pairs]
    recipe = clock.clock if isinstance(clock, LearnableClock) else clock
    return tuple(recipe.kernels), share_pairs(pairs, len(recipe.kernels), recipe.shares)
