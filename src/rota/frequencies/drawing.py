"""n frequencies from a law, for every head of a layer: drawn once, at construction."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from rota.errors import InputError
from rota.frequencies.base import SamplingMethod
from rota.frequencies.streams import coins, streams
from rota.rooms import find, offers
from rota.spectra.base import Law
from rota.spectra.lattice import Lattice
from rota.spectra.mixture import Mixture
from rota.types import BoolArray, Float64Array, Int64Array


@dataclass(frozen=True, eq=False)
class Frequencies:
    """A draw.

    Attributes:
        cycles_per_second: Shape ``(heads, pairs)``.
        harmonics: Integers ``k`` of the frequencies ``k / period`` where the law is a lattice, or a mixture
            of lattices whose periods have a common multiple; else ``None``.
        period: Whole seconds where the law is a lattice of so many, else ``None``.
    """

    cycles_per_second: Float64Array
    harmonics: Int64Array | None
    period: np.int64 | None


def draw(
    law: Law,
    pairs: int,
    heads: int,
    seed: int,
    layer: int = 0,
    method: str = "nested_lattice",
    *,
    path: tuple[int, ...] = (),
) -> Frequencies:
    """Draw frequencies for every head of a layer.

    The absolute frequency is spread evenly by the method, then given a sign, so that a symmetric law is
    served as well as a folded one. The same arguments give the same draw on every machine: harmonics exactly,
    frequencies of a density to rounding, so that it is the stored draw that counts.

    Args:
        law: Where frequencies come from; of any kind.
        pairs: Frequencies for each head.
        heads: Number of heads (of key groups, where keys are shared).
        seed: Of the run.
        layer: Index of the layer.
        method: A file of this room: ``"nested_lattice"``, ``"systematic"``, ``"stratified"``, ``"sobol"``, or
            ``"iid"`` as in the papers.
        path: Which part of a composed encoding is drawing; ``()`` for a whole one.

    Raises:
        InputError: Unknown method, no pairs, or no heads.
    """
    if pairs < 1 or heads < 1:
        raise InputError(f"{pairs} pairs for {heads} heads: expected at least one of each")
    uniforms = _method(method).uniforms(pairs, heads, streams(seed, layer, path))
    one = law.merged() if isinstance(law, Mixture) else law
    folded = one if one.is_folded else one.fold()
    toss = partial(coins, seed, layer, path)
    if isinstance(one, Lattice) and isinstance(folded, Lattice):
        absolute = folded.harmonic_quantile(uniforms)
        negative = _negative(one, absolute / one.period, toss)
        harmonics = np.where(negative, -absolute, absolute)
        return Frequencies(harmonics / one.period, harmonics, _whole_seconds(one.period))
    sizes = folded.quantile(uniforms)
    return Frequencies(np.where(_negative(one, sizes, toss), -sizes, sizes), None, None)


@cache
def _method(name: str) -> SamplingMethod:
    if name == "geometric":  # a file of this room too, but what it holds asks no law
        offered = ", ".join(offers("frequencies", SamplingMethod))
        raise InputError(
            f"method {name!r} does not draw from a law: expected one of {offered}; ladders are `rope_ladder` "
            "and `geometric_bank`"
        )
    return find("frequencies", name, SamplingMethod)()  # type: ignore[type-abstract]


def _whole_seconds(period: float) -> np.int64 | None:
    return np.int64(period) if period == round(period) and period < 2**53 else None


def _negative(law: Law, absolute: Float64Array, toss: Callable[[int], np.random.Generator]) -> BoolArray:
    """Which frequencies turn the other way, by the law's own odds; none of a folded law."""
    if law.is_folded:
        return np.zeros(absolute.shape, np.bool_)
    tosses = np.stack([toss(head).random(absolute.shape[1]) for head in range(len(absolute))])
    return np.asarray(tosses < law.negative_share(absolute))
