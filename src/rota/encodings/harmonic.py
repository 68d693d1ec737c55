"""Rotation by time at integer harmonics of whole periods: what ClockRoPE builds."""

from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

from rota.encodings.base import Rotation, TurnsTogether, given
from rota.encodings.site import Site
from rota.errors import InputError
from rota.rotary import native
from rota.rotary.gathered import rotate_gathered
from rota.rotary.phase import require_lattice, turns_of_lattice
from rota.rotary.points import unit_points
from rota.units import ticks_per_second

_HELD_BY_FLOAT64 = 2.0**52  # whole numbers that it holds, and their halves


class HarmonicRotation(Rotation, TurnsTogether):
    """Rotates by time at integer harmonics of whole periods, with phases exact to the clock's tick.

    A token needs the points of few distinct harmonics; they are computed once and gathered by every pair
    of every head, of queries and keys alike where both stand at the same times.

    Which they are is known once the draw has values. On the meta device it has none: the module can be built,
    moved and partly loaded there, and finds them when ``load_state_dict`` brings the draw. (A recipe draws
    with numpy, so what it builds under ``torch.device("meta")`` has its values, and needs no filling.)

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
    _small: bool

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
        self.num_heads = num_heads
        self.name = name
        self.unit = unit
        self.ticks_per_second = ticks_per_second(unit)
        kv_heads, pairs = harmonics.shape
        self._site = Site(2 * pairs, num_heads, kv_heads, layer=0, seed=0, unit=unit)  # until a recipe says
        self.register_buffer("harmonics", harmonics)
        self.register_buffer("periods", periods)
        if self._has_draw():
            self._require_periods()
            require_lattice(harmonics, periods)
            self._index_distinct()
        else:
            self._index_all()

    def _has_draw(self) -> bool:
        """Whether the draw has values: it is neither on the meta device nor fake."""
        return not any(
            draw.is_meta or isinstance(draw, FakeTensor) for draw in (self.harmonics, self.periods)
        )

    def _require_periods(self) -> None:
        if (shortest := int(self.periods.min())) < 2:
            raise InputError(
                f"{self.name}: period {shortest} is under two ticks of the unit {self.unit!r}: use a finer "
                "unit"
            )

    def _index_distinct(self) -> None:
        """Find the distinct (harmonic, period) of the draw, and which of them each pair needs."""
        both = torch.stack((self.harmonics, self.periods.expand_as(self.harmonics))).flatten(1)
        (harmonics, periods), index = torch.unique(both, dim=1, return_inverse=True)
        one_period = bool((periods == periods[0]).all())  # then time is reduced once for all harmonics
        largest = float(harmonics.double().abs().max() * periods.double().max())
        self._small = largest < _HELD_BY_FLOAT64
        self._keep_index(harmonics, periods[:1] if one_period else periods, index)

    def _index_all(self) -> None:
        """Take each pair for one of its own, until the draw has values."""
        harmonics = self.harmonics.flatten()
        places = torch.arange(len(harmonics), device=harmonics.device)
        self._small = False
        self._keep_index(harmonics, self.periods.expand_as(self.harmonics).flatten(), places)

    def _keep_index(self, harmonics: Tensor, periods: Tensor, index: Tensor) -> None:
        self.register_buffer("_harmonics", harmonics.contiguous(), persistent=False)
        self.register_buffer("_periods", periods.contiguous(), persistent=False)
        self.register_buffer("_index", index.view_as(self.harmonics), persistent=False)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *others: Any) -> None:
        """Follow what a checkpoint brings, which may be a shard that has nothing of this module.

        Raises:
            InputError: A period is under two ticks, or its product with a harmonic beyond int64.
        """
        super()._load_from_state_dict(state_dict, prefix, *others)
        came = [name for name in ("harmonics", "periods") if prefix + name in state_dict]
        if not came or not self._has_draw():
            return
        if "periods" in came:  # else they may be memory that nothing has filled yet
            self._require_periods()
        if len(came) == 2:
            require_lattice(self.harmonics, self.periods)
        self._index_distinct()

    @property
    def cycles_per_second(self) -> Float[Tensor, "kv_heads pairs"]:
        """Frequencies of the draw."""
        return self.harmonics.double() * self.ticks_per_second / self.periods.double()

    def turn_query(
        self,
        q: Float[Tensor, "batch heads query head_dim"],
        *,
        time: Int64[Tensor, "batch query"] | None = None,
        position: Int64[Tensor, "*batch query"] | None = None,
    ) -> Float[Tensor, "batch heads query head_dim"]:
        """Rotate queries, shape ``(batch, heads, query, head_dim)``, by the time at which each asks."""
        return rotate_gathered(q, unit_points(self._turns(given(time)), q.dtype), self._index_of_queries())

    def turn_key(
        self,
        k: Float[Tensor, "batch kv_heads key head_dim"],
        *,
        time: Int64[Tensor, "batch key"] | None = None,
        position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Float[Tensor, "batch kv_heads key head_dim"]:
        """Rotate keys, shape ``(batch, kv_heads, key, head_dim)``, by the time of each event."""
        return rotate_gathered(k, unit_points(self._turns(given(time)), k.dtype), self._index)

    def turn_both(
        self,
        q: Float[Tensor, "batch heads length head_dim"],
        k: Float[Tensor, "batch kv_heads length head_dim"],
        *,
        time: Int64[Tensor, "batch length"] | None = None,
        position: Int64[Tensor, "*batch length"] | None = None,
    ) -> tuple[Float[Tensor, "batch heads length head_dim"], Float[Tensor, "batch kv_heads length head_dim"]]:
        """Rotate queries and keys by points of the circle that are computed once."""
        turns = self._turns(given(time))
        points = unit_points(turns, q.dtype)
        for_keys = points if k.dtype == q.dtype else unit_points(turns, k.dtype)
        return (
            rotate_gathered(q, points, self._index_of_queries()),
            rotate_gathered(k, for_keys, self._index),
        )

    def _index_of_queries(self) -> Tensor:
        """The index of each query head is that of its key head."""
        group = self.num_heads // self.harmonics.shape[0]
        return self._index if group == 1 else self._index.repeat_interleave(group, 0)

    def _turns(self, time: Tensor) -> Tensor:
        """Of each token's distinct harmonics, shape ``(batch, length, distinct)``."""
        turns = native.turns_of_lattice(time, self._harmonics, self._periods, small=self._small)
        if turns is not None:
            return turns
        return turns_of_lattice(time[..., None], self._harmonics, self._periods, small=self._small)
