"""Rotation by time at real frequencies: what RFR builds for profiles without a period."""

import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from rota.encodings.base import Rotation, given
from rota.errors import InputError
from rota.rotary.apply import rotate
from rota.rotary.phase import real_turns
from rota.units import ticks_per_second

__all__ = ["RealRotation"]

_FASTEST = 100.0  # cycles per second: float64 keeps their phases to 5e-4 rad until the year 2200


class RealRotation(Rotation):
    """Rotates by time at real frequencies, each key head and the queries of its group by their own.

    Phases are float64 products with the time since the epoch, reduced to one turn: within 1e-6 rad today for
    periods from ten seconds on, and in proportion to the frequency beyond.

    Attributes:
        cycles_per_second: float64, shape ``(kv_heads, pairs)``: the draw, which is what a checkpoint keeps.
    """

    needs_clock = True
    cycles_per_second: Tensor

    def __init__(
        self,
        cycles_per_second: Float64[Tensor, "kv_heads pairs"],
        *,
        num_heads: int,
        unit: str = "s",
        name: str = "RFR",
    ) -> None:
        super().__init__()
        if not cycles_per_second.is_meta:
            _require_slow(cycles_per_second, name)
        self.register_buffer("cycles_per_second", cycles_per_second)
        self.num_heads = num_heads
        self.ticks_per_second = ticks_per_second(unit)
        self.name = name

    def turn_query(
        self, q: Tensor, *, time: Int64[Tensor, "batch query"] | None = None, position: Tensor | None = None
    ) -> Tensor:
        """Rotate queries, shape ``(batch, heads, query, head_dim)``, by the time at which each asks."""
        group = self.num_heads // self.cycles_per_second.shape[0]
        return self._rotate(q, given(time), group)

    def turn_key(
        self, k: Tensor, *, time: Int64[Tensor, "batch key"] | None = None, position: Tensor | None = None
    ) -> Tensor:
        """Rotate keys, shape ``(batch, kv_heads, key, head_dim)``, by the time of each event."""
        return self._rotate(k, given(time), 1)

    def _rotate(self, x: Tensor, time: Tensor, group: int) -> Tensor:
        return rotate_heads(x, time, self.cycles_per_second, self.ticks_per_second, group)


def _require_slow(cycles_per_second: Tensor, name: str) -> None:
    fastest = float(cycles_per_second.abs().max())
    if not fastest <= _FASTEST:  # nor is nan
        raise InputError(
            f"{name} has drawn {fastest:.3g} cycles per second: too fast for phases exact to 1e-3 rad; "
            f"use a wider profile, or a truncation of at most {_FASTEST:g} cycles per second"
        )


def rotate_heads(
    x: Tensor, time: Tensor, cycles_per_second: Tensor, ticks_per_second: int, group: int
) -> Tensor:
    """Rotate the pairs of each head by its own frequencies; differentiable in both.

    Args:
        x: Features, shape ``(batch, heads, length, head_dim)``.
        time: Ticks since the origin, int64, shape ``(batch, length)``.
        cycles_per_second: float64, shape ``(kv_heads, pairs)``.
        ticks_per_second: Of the clock.
        group: Heads of ``x`` for each key head; they are side by side.
    """
    turns = real_turns(time[:, None, :, None], cycles_per_second[:, None, :], ticks_per_second)
    return rotate(x, turns if group == 1 else torch.repeat_interleave(turns, group, 1))
