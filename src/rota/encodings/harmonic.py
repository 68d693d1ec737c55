"""Rotation by time at integer harmonics of whole periods: what ClockRoPE builds."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from rota.encodings.base import Rotation, require_time
from rota.errors import InputError
from rota.rotary.clock import require_times_of
from rota.rotary.gathered import rotate_gathered
from rota.rotary.phase import lattice_turns
from rota.rotary.points import unit_points
from rota.units import ticks_per_second


class HarmonicRotation(Rotation):
    """Rotates by time at integer harmonics of whole periods, with phases exact to the clock's tick.

    A token needs the points of few distinct harmonics; they are computed once and gathered by every pair
    of every head.

    Attributes:
        harmonics: int64, shape ``(kv_heads, pairs)``: the draw, which is what a checkpoint keeps.
        periods: Clock ticks, int64, shape ``(pairs,)``.
        cycles_per_second: float64, shape ``(kv_heads, pairs)``.
    """

    needs_clock = True
    harmonics: Tensor
    periods: Tensor
    _harmonics: Tensor
    _periods: Tensor
    _index: Tensor

    def __init__(
        self,
        harmonics: Int64[Tensor, "kv_heads pairs"],
        periods: Int64[Tensor, " pairs"],
        *,
        num_heads: int,
        unit: str = "s",
        name: str = "ClockRoPE",
    ) -> None:
        super().__init__()
        if (shortest := int(periods.min())) < 2:
            raise InputError(f"period {shortest} is under two ticks of the unit {unit!r}: use a finer unit")
        self.num_heads = num_heads
        self.name = name
        self.ticks_per_second = ticks_per_second(unit)
        self.register_buffer("harmonics", harmonics)
        self.register_buffer("periods", periods)
        self._index_distinct()
        self.register_load_state_dict_post_hook(_index_loaded)  # type: ignore[no-untyped-call]

    def _index_distinct(self) -> None:
        """Find the distinct (harmonic, period) of the draw, and which of them each pair needs."""
        both = torch.stack((self.harmonics, self.periods.expand_as(self.harmonics))).flatten(1)
        distinct, index = torch.unique(both, dim=1, return_inverse=True)
        harmonics, periods = distinct
        one_period = bool((periods == periods[0]).all())  # then time is reduced once for all harmonics
        self.register_buffer("_harmonics", harmonics, persistent=False)
        self.register_buffer("_periods", periods[:1] if one_period else periods, persistent=False)
        self.register_buffer("_index", index.view_as(self.harmonics), persistent=False)

    @property
    def cycles_per_second(self) -> Float[Tensor, "kv_heads pairs"]:
        """Frequencies of the draw."""
        return self.harmonics.double() * self.ticks_per_second / self.periods.double()

    def rotate_query(
        self,
        q: Float[Tensor, "batch heads query head_dim"],
        *,
        time: Int64[Tensor, "batch query"] | None = None,
        position: Int64[Tensor, "*batch query"] | None = None,
    ) -> Float[Tensor, "batch heads query head_dim"]:
        """Rotate queries, shape ``(batch, heads, query, head_dim)``, by the time at which each asks.

        Raises:
            InputError: There is no time, or it does not fit the queries.
        """
        group = self.num_heads // self.harmonics.shape[0]
        return self._rotate(q, require_time(time, self.name, "query"), group)

    def rotate_key(
        self,
        k: Float[Tensor, "batch kv_heads key head_dim"],
        *,
        time: Int64[Tensor, "batch key"] | None = None,
        position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Float[Tensor, "batch kv_heads key head_dim"]:
        """Rotate keys, shape ``(batch, kv_heads, key, head_dim)``, by the time of each event.

        Raises:
            InputError: There is no time, or it does not fit the keys.
        """
        return self._rotate(k, require_time(time, self.name, "key"), 1)

    def _rotate(self, x: Tensor, time: Tensor, group: int) -> Tensor:
        index = self._index.repeat_interleave(group, 0)
        if x.shape[1] != index.shape[0] or x.shape[-1] != 2 * index.shape[1]:
            raise InputError(
                f"{self.name} was built for {index.shape[0]} heads of {2 * index.shape[1]} features: "
                f"expected (batch, heads, length, head_dim), got {tuple(x.shape)}"
            )
        require_times_of(x, time, self.name)
        points = unit_points(lattice_turns(time[..., None], self._harmonics, self._periods), x.dtype)
        return rotate_gathered(x, points, index)


def _index_loaded(module: HarmonicRotation, _: object) -> None:
    """Follow what a checkpoint brought; a function of the file, so that the module can be pickled."""
    module._index_distinct()
