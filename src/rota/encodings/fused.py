"""Rotation by position and time at once, the same for queries and keys: what TO-RoPE builds."""

import torch
from jaxtyping import Float64, Int64
from torch import Tensor, nn

from rota.encodings.base import Rotation, given
from rota.encodings.positions import positions_of
from rota.rotary.apply import rotate
from rota.rotary.phase import real_turns
from rota.units import ticks_per_second


class FusedRotation(Rotation):
    """Turns by ``a_p * position * f_p + a_t * (t - origin) * f_t``, each key head and its queries alike.

    Attributes:
        position_gain: ``a_p``, float64, one number; learned or fixed.
        time_gain: ``a_t``, likewise.
        cycles_per_position: ``f_p``, float64, shape ``(kv_heads, pairs)``, or ``(1, pairs)`` for all heads.
        cycles_per_second: ``f_t``, likewise.
        origin: Seconds since the epoch, from which time is counted. Logits do not depend on it.
    """

    name = "TO-RoPE"
    needs_clock = True
    cycles_per_position: Tensor
    cycles_per_second: Tensor

    def __init__(
        self,
        cycles_per_position: Float64[Tensor, "kv_heads pairs"],
        cycles_per_second: Float64[Tensor, "kv_heads pairs"],
        *,
        num_heads: int,
        learned: bool,
        origin: int,
        unit: str = "s",
    ) -> None:
        super().__init__()
        self.position_gain, self.time_gain = (
            nn.Parameter(torch.ones((), dtype=torch.float64), requires_grad=learned) for _ in range(2)
        )
        self.register_buffer("cycles_per_position", cycles_per_position)
        self.register_buffer("cycles_per_second", cycles_per_second)
        self.num_heads, self.origin = num_heads, origin
        self.ticks_per_second = ticks_per_second(unit)

    def turn_query(
        self,
        q: Tensor,
        *,
        time: Int64[Tensor, "batch query"] | None = None,
        position: Int64[Tensor, "*batch query"] | None = None,
    ) -> Tensor:
        """Rotate queries, shape ``(batch, heads, query, head_dim)``, by their positions and times."""
        group = self.num_heads // len(self.cycles_per_second)
        return self._rotate(q, given(time), position, group)

    def turn_key(
        self,
        k: Tensor,
        *,
        time: Int64[Tensor, "batch key"] | None = None,
        position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Tensor:
        """Rotate keys, shape ``(batch, kv_heads, key, head_dim)``, by their positions and times."""
        return self._rotate(k, given(time), position, 1)

    def _rotate(self, x: Tensor, time: Tensor, position: Tensor | None, group: int) -> Tensor:
        heads = len(self.cycles_per_second)
        place = positions_of(x, position)[..., None, :, None]
        since = (time - self.origin * self.ticks_per_second)[:, None, :, None]
        by_place = self.position_gain * self.cycles_per_position[:, None, :]
        by_time = self.time_gain * self.cycles_per_second[:, None, :]
        turns = real_turns(place, by_place) + real_turns(since, by_time, self.ticks_per_second)
        return rotate(x, turns if heads == 1 or group == 1 else torch.repeat_interleave(turns, group, 1))
