"""n frequencies from a law, for every head of a layer: drawn once, at construction."""

from dataclasses import dataclass

import numpy as np

from rota.errors import InputError
from rota.frequencies.base import SamplingMethod
from rota.frequencies.streams import Streams, streams
from rota.rooms import find
from rota.spectra.base import Law
from rota.spectra.lattice import Lattice
from rota.types import Float64Array, Int64Array


@dataclass(frozen=True, eq=False)
class Frequencies:
    """A draw.

    Attributes:
        cycles_per_second: Shape ``(heads, pairs)``.
        harmonics: Integers ``k`` of the frequencies ``k / period`` where the law is a lattice, else ``None``.
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
    served as well as a folded one. The same arguments give the same draw on every machine.

    Args:
        law: Where frequencies come from.
        pairs: Frequencies for each head.
        heads: Number of heads (of key groups, where keys are shared).
        seed: Of the run.
        layer: Index of the layer.
        method: A file of this room: ``"nested_lattice"``, ``"systematic"``, or ``"iid"`` as in the papers.
        path: Which part of a composed encoding is drawing; ``()`` for a whole one.

    Raises:
        InputError: Unknown method, no pairs, or no heads.
    """
    if pairs < 1 or heads < 1:
        raise InputError(f"{pairs} pairs for {heads} heads: expected at least one of each")
    generators = streams(seed, layer, path)
    spread = find("frequencies", method, SamplingMethod)()  # type: ignore[type-abstract]
    uniforms = spread.uniforms(pairs, heads, generators)
    if isinstance(law, Lattice):
        harmonics = _signed(law, law.fold().harmonic_quantile(uniforms), generators)
        period = np.int64(law.period) if law.period == round(law.period) else None
        return Frequencies(harmonics / law.period, harmonics, period)
    raise InputError(f"a law of kind {type(law).__name__} cannot be drawn from yet: expected a lattice law")


def _signed(law: Lattice, absolute: Int64Array, generators: Streams) -> Int64Array:
    """Give each absolute harmonic a sign with the law's own odds; a folded law has only positive ones."""
    negative = law.pmf(-absolute)
    odds = np.where(absolute == 0, 0.0, negative / (negative + law.pmf(absolute)))
    if not odds.any():
        return absolute
    # A head's own stream, one word further on, so that signs do not depend on how many numbers were spread.
    coins = np.stack(
        [generators(head).spawn(1)[0].random(absolute.shape[1]) for head in range(len(absolute))]
    )
    return np.where(coins < odds, -absolute, absolute)
