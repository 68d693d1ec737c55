"""SIRENRoPE: rotation by position, and by a learned function of the time."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float64, Int64
from torch import Tensor, nn

from rota.encodings.base import Encoding, Rotation, given
from rota.encodings.numerals import is_number, is_whole, require_base, shown
from rota.encodings.perceptron import Perceptron, Sine
from rota.encodings.positions import positions_of
from rota.encodings.site import Site
from rota.errors import InputError
from rota.frequencies.geometric import rope_ladder
from rota.frequencies.streams import streams
from rota.rotary.apply import rotate
from rota.rotary.phase import lattice_turns, real_turns
from rota.units import ticks_per_second

_DAY, _YEAR = 86_400, 31_536_000
_ORIGIN = 55 * _YEAR  # where the trend is 0, in December 2024, as in the published code
_FEATURES = 5


class SirenRotation(Rotation):
    """Rotates by ``f(T)_j w_j + lambda p theta_j`` radians, all heads alike.

    Attributes:
        smooth: The SIREN in ``f``.
        sharp: The ReLU network in ``f``.
        scale: ``w``, radians, float64, shape ``(pairs,)``.
        order: ``lambda``, float64: the weight of the position.
        cycles_per_position: ``theta`` of RoPE's ladder over a turn, float64, shape ``(pairs,)``.
    """

    name = "SIREN-RoPE"
    needs_clock = True
    cycles_per_position: Tensor

    def __init__(
        self,
        smooth: Perceptron,
        sharp: Perceptron,
        cycles_per_position: Float64[Tensor, " pairs"],
        *,
        unit: str = "s",
    ) -> None:
        super().__init__()
        self.smooth, self.sharp = smooth, sharp
        self.scale = nn.Parameter(torch.full_like(cycles_per_position, math.pi))
        self.order = nn.Parameter(torch.ones((), dtype=torch.float64))
        self.register_buffer("cycles_per_position", cycles_per_position)
        self.ticks_per_second = ticks_per_second(unit)

    def turn_query(
        self,
        q: Tensor,
        *,
        time: Int64[Tensor, "batch query"] | None = None,
        position: Int64[Tensor, "*batch query"] | None = None,
    ) -> Tensor:
        """Rotate queries, shape ``(batch, heads, query, head_dim)``, by time and position."""
        return self._rotate(q, given(time), position)

    def turn_key(
        self,
        k: Tensor,
        *,
        time: Int64[Tensor, "batch key"] | None = None,
        position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Tensor:
        """Rotate keys, shape ``(batch, kv_heads, key, head_dim)``, by time and position."""
        return self._rotate(k, given(time), position)

    def _rotate(self, x: Tensor, time: Tensor, position: Tensor | None) -> Tensor:
        place = positions_of(x, position)[..., None]
        by_time = self.turns(time)
        by_place = real_turns(place, self.order * self.cycles_per_position)
        return rotate(x, (by_time + by_place).unsqueeze(1))

    def turns(self, time: Int64[Tensor, "batch length"]) -> Tensor:
        """``f(T) w`` in turns, shape ``(batch, length, pairs)``."""
        seen = self.features(time)
        turns = (self.smooth(seen) + self.sharp(seen)) * (self.scale / (2 * math.pi))
        reduced: Tensor = (turns - turns.detach().round()).float()
        return reduced

    def features(self, time: Int64[Tensor, "*shape"]) -> Float64[Tensor, "*shape features"]:
        """``T``: cosine and sine of the day and the week, from exact phases, and years since the origin."""
        periods = torch.tensor([_DAY, 7 * _DAY], device=time.device) * self.ticks_per_second
        turns = lattice_turns(time[..., None], torch.ones_like(periods), periods).double()
        years = (time - _ORIGIN * self.ticks_per_second).double() / (_YEAR * self.ticks_per_second)
        angle = 2 * math.pi * turns
        return torch.cat((angle.cos(), angle.sin(), years[..., None]), -1)


@dataclass(frozen=True)
class SIRENRoPE(Encoding):
    """SIREN-RoPE (arXiv 2604.24717): a learned phase of the time beside RoPE's of the position.

    ``f`` is the sum of a SIREN and a ReLU network of the hour, the weekday and a trend. As a function of time
    and position alone it fits the interface, and keys can be cached; a shift of all times changes it. The
    paper and its code differ in base, width and features; what is here follows the paper, with the trend of
    the code. What it leaves open, the start of the ReLU network, is uniform within ``1 / sqrt(inputs)``.

    Attributes:
        width: Of the hidden layers; paper 64, code 16.
        omega: Of the SIREN's sines.
        base: Of RoPE's ladder; paper 10,000, code 100,000.
    """

    width: int = 64
    omega: float = 10.0
    base: float = 10_000.0
    needs_clock = True

    def __post_init__(self) -> None:
        if not is_whole(self.width) or self.width < 1 or not is_number(self.omega) or self.omega <= 0:
            raise InputError(
                f"width {shown(self.width)} and omega {shown(self.omega)} of SIREN-RoPE: expected a whole "
                "number of at least 1, and a finite one above 0; published 64 and 10"
            )
        require_base(self.base)

    def rotation(self, site: Site) -> SirenRotation:
        """Draw the networks of one layer."""
        rng = streams(site.seed, site.layer, site.path)(None)
        sizes = (_FEATURES, self.width, self.width, site.pairs)
        smooth = Perceptron(sizes, Sine(self.omega), 6 / self.omega**2, rng)
        sharp = Perceptron(sizes, nn.ReLU(), 1.0, rng)
        return SirenRotation(
            smooth, sharp, torch.from_numpy(rope_ladder(site.head_dim, self.base)), unit=site.unit
        )
