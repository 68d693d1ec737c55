"""LearnableRoPE: rotation by position at frequencies that are trained."""

from dataclasses import dataclass

import torch
from jaxtyping import Float64, Int64
from torch import Tensor, nn

from rota.encodings.base import Encoding, Rotation
from rota.encodings.numerals import require_base
from rota.encodings.positions import positions_of
from rota.encodings.site import Site
from rota.frequencies.geometric import rope_ladder
from rota.rotary.apply import rotate
from rota.rotary.phase import real_turns


class LearnablePositionRotation(Rotation):
    """Rotates by position, each key head and the queries of its group at frequencies of their own.

    Attributes:
        log_frequencies: Natural logarithm of the radians per position, float64, shape ``(kv_heads, pairs)``:
            positive at every step of training, and a step moves a slow plane by as large a part as a fast
            one.
    """

    name = "LearnableRoPE"

    def __init__(self, log_frequencies: Float64[Tensor, "kv_heads pairs"], *, num_heads: int) -> None:
        super().__init__()
        self.log_frequencies = nn.Parameter(log_frequencies)
        self.num_heads = num_heads

    @property
    def cycles_per_position(self) -> Float64[Tensor, "kv_heads pairs"]:
        """Frequencies as they are now; differentiable."""
        return self.log_frequencies.exp() / (2 * torch.pi)

    def turn_query(
        self, q: Tensor, *, time: Tensor | None = None, position: Int64[Tensor, "*batch query"] | None = None
    ) -> Tensor:
        """Rotate queries, shape ``(batch, heads, query, head_dim)``, by their positions; time is not used."""
        return self._rotate(q, position, self.num_heads // self.log_frequencies.shape[0])

    def turn_key(
        self, k: Tensor, *, time: Tensor | None = None, position: Int64[Tensor, "*batch key"] | None = None
    ) -> Tensor:
        """Rotate keys, shape ``(batch, kv_heads, key, head_dim)``, by their positions; time is not used."""
        return self._rotate(k, position, 1)

    def _rotate(self, x: Tensor, position: Tensor | None, group: int) -> Tensor:
        position = positions_of(x, position)
        turns = real_turns(position[..., None, :, None], self.cycles_per_position[:, None, :])
        return rotate(x, turns if group == 1 else torch.repeat_interleave(turns, group, -3))


@dataclass(frozen=True)
class LearnableRoPE(Encoding):
    """RoPE whose frequencies are trained; it starts as `RoPE` with the same base.

    In one dimension this is all that STRING (Schenck et al. 2025) can be: its matrices are ``P R P^T`` with a
    rotation ``R`` of such pairs and an orthogonal ``P``, which the projections of queries and keys absorb.

    Attributes:
        base: Of the ladder at the start.
    """

    base: float = 10_000.0
    needs_clock = False

    def __post_init__(self) -> None:
        require_base(self.base)

    def rotation(self, site: Site) -> LearnablePositionRotation:
        """Build the rotation; layer, seed and unit do not matter to where it starts.

        Raises:
            InputError: The base is not above 1.
        """
        ladder = torch.from_numpy(rope_ladder(site.head_dim, self.base) * (2 * torch.pi)).log()
        return LearnablePositionRotation(ladder.repeat(site.num_kv_heads, 1), num_heads=site.num_heads)
