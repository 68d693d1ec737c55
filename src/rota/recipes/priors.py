"""Priors: the profile that an arm's encoding was asked for, beside the frequencies of its network."""

from collections.abc import Callable, Iterator

import numpy as np

from rota.analysis.law_fit import LawFit
from rota.analysis.profiles import ProfileFit
from rota.encodings.base import Encoding, Rotation
from rota.encodings.clockrope import KEEP, ClockRoPE
from rota.encodings.combination import Combination, CombinedRotation
from rota.encodings.harmonic import HarmonicRotation
from rota.encodings.learnable_clock import LearnableClock, LearnableRotation
from rota.encodings.real import RealRotation
from rota.encodings.rfr import RFR
from rota.encodings.shards import law_to_draw
from rota.encodings.split import SplitRotation
from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.measured import Measured
from rota.models.base import Network
from rota.types import Float64Array

__all__: list[str] = []

Clock = ClockRoPE | RFR | LearnableClock
_BY_FREQUENCY = HarmonicRotation | RealRotation | LearnableRotation


def realised_priors(encoding: Encoding, network: Network, law: LawFit | None = None) -> list[ProfileFit]:
    """Each profile of an encoding, with the frequencies that the network's layers hold for it.

    A part's frequencies are those of the modules that stand where the part does in each layer, so that none
    is taken for another's, whatever else turns by time beside it. What is learned is as the network holds it
    now, and the label says so.

    Args:
        encoding: Of every layer of the network.
        network: Built with it.
        law: What was measured, where the encoding may have a profile from it.

    Returns:
        One fit for each kernel; none where the encoding has no profile.

    Raises:
        InputError: A layer of the network was built with another encoding.
    """
    places = [list(_clocks(encoding, layer)) for layer in _layers(network)]
    return [fit for layers in zip(*places, strict=True) for fit in _fits(layers[0][0], layers, law)]


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
        # A clock whose profile is periodic in part alone has two modules side by side, in one place.
        modules: list[object] = list(module.parts) if isinstance(module, SplitRotation) else [module]
        held = [
            one.cycles_per_second.detach().cpu().numpy() for one in modules if isinstance(one, _BY_FREQUENCY)
        ]
        if len(held) < len(modules):
            raise _other(encoding, module)
        yield encoding, np.concatenate(held, axis=-1)


def _other(encoding: Encoding, module: object) -> InputError:
    return InputError(
        f"a layer holds a {type(module).__name__}, which {type(encoding).__name__} does not build: pass the "
        "encoding that the network was built with"
    )


def _fits(
    clock: Clock, layers: tuple[tuple[Clock, Float64Array], ...], law: LawFit | None
) -> Iterator[ProfileFit]:
    drawn = np.stack([frequencies for _, frequencies in layers])
    learned = isinstance(clock, LearnableClock)
    if isinstance(clock, RFR):
        yield ProfileFit(str(clock.kernel), clock.kernel, drawn)
        return
    recipe = clock.clock if isinstance(clock, LearnableClock) else clock
    owners = np.repeat(*np.array([(s.kernel, s.pairs) for s in recipe.shards(drawn.shape[-1])]).T)
    for place, kernel in enumerate(recipe.kernels):
        label = _label(kernel, recipe)
        label = f"{label}, frequencies learned" if learned else label
        known = law is not None and kernel == law.kernel
        observed = law.observed(level=recipe.static == KEEP) if law is not None and known else None
        yield ProfileFit(label, _wanted(kernel, recipe), drawn[..., owners == place], observed)


def _label(kernel: Kernel, recipe: ClockRoPE) -> str:
    said = "measured" if isinstance(kernel, Measured) else str(kernel)
    return said if recipe.static == KEEP else f"{said}, less its level"


def _wanted(kernel: Kernel, recipe: ClockRoPE) -> Callable[[Float64Array], Float64Array]:
    """The profile, without its level where pairs that never turn are dropped."""
    if recipe.static == KEEP:
        return kernel
    law = law_to_draw(kernel, recipe.truncation, still=False, fold=False)
    return lambda lag: np.asarray(law.characteristic(lag).real)
