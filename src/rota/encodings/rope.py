"""RoPE: rotation by position along a geometric ladder."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from rota.encodings.base import Encoding, Rotation
from rota.encodings.numerals import require_base
from rota.encodings.positions import positions_of
from rota.encodings.site import Site
from rota.frequencies.geometric import rope_ladder
from rota.rotary.apply import rotate
from rota.rotary.phase import real_turns


class PositionRotation(Rotation):
    """Rotates by position, all heads alike.

    Attributes:
        cycles_per_position: float64, shape ``(pairs,)``.
    """

    name = "RoPE"
    cycles_per_position: Tensor

    def __init__(self, cycles_per_position: Float[Tensor, " pairs"]) -> None:
        super().__init__()
        self.register_buffer("cycles_per_position", cycles_per_position.double())

    def turn_query(
        self,
        q: Float[Tensor, "batch heads query head_dim"],
        *,
        time: Int64[Tensor, "batch query"] | None = None,
        position: Int64[Tensor, "*batch query"] | None = None,
    ) -> Float[Tensor, "batch heads query head_dim"]:
        """Rotate queries, shape ``(batch, heads, query, head_dim)``, by their positions; time is not used."""
        return self._rotate(q, position)

    def turn_key(
        self,
        k: Float[Tensor, "batch kv_heads key head_dim"],
        *,
        time: Int64[Tensor, "batch key"] | None = None,
        position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Float[Tensor, "batch kv_heads key head_dim"]:
        """Rotate keys, shape ``(batch, kv_heads, key, head_dim)``, by their positions; time is not used."""
        return self._rotate(k, position)

    def _rotate(self, x: Tensor, position: Tensor | None) -> Tensor:
        position = positions_of(x, position)
        turns = real_turns(position[..., None], self.cycles_per_position)
        return rotate(x, turns.unsqueeze(1) if position.ndim == 2 else turns)


@dataclass(frozen=True)
class RoPE(Encoding):
    """RoPE (Su et al. 2021): pair ``j`` turns by ``base^(-2j / head_dim)`` radians a position.

    The ladder spans the features it is given: as a part of `Split`, its own share of them.

    Attributes:
        base: Of the ladder.
    """

    base: float = 10_000.0
    needs_clock = False

    def __post_init__(self) -> None:
        require_base(self.base)

    def rotation(self, site: Site) -> PositionRotation:
        """Build the rotation; layer, seed and unit do not matter to it."""
        return PositionRotation(torch.from_numpy(rope_ladder(site.head_dim, self.base)))
