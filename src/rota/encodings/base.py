"""Rotation: what attention asks of an encoding; Encoding: the recipe that builds one."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from rota.encodings.positions import require_positions
from rota.encodings.site import Site
from rota.errors import InputError
from rota.rotary.clock import require_range, require_times_of
from rota.rotary.kinds import require_floats, require_tensor
from rota.tables import Recipe
from rota.units import ticks_per_second


class Rotation(nn.Module, ABC):
    """Rotates queries and keys, each by its own time or position.

    Where that is all, a rotated key stays valid whatever later queries ask. Times are int64 clock ticks since
    the epoch, shape ``(batch, length)``; positions int64, shape ``(length,)`` or ``(batch, length)``, else
    0, 1, ... Frequencies and learned coefficients keep their precision under ``.to(bfloat16)`` and the like.

    Attributes:
        needs_clock: It rotates by time, so it must be given times.
        cacheable: Keys are rotated by their own time and position and nothing else.
        name: What errors call it.
    """

    needs_clock: bool = False
    cacheable: bool = True
    name: str = ""
    _site: Site | None = None

    @abstractmethod
    def turn_query(
        self,
        q: Float[Tensor, "batch heads query head_dim"],
        *,
        time: Int64[Tensor, "batch query"] | None = None,
        position: Int64[Tensor, "*batch query"] | None = None,
    ) -> Float[Tensor, "batch heads query head_dim"]:
        """What the encoding does to queries, for `rotate_query` once it has seen that they fit."""

    @abstractmethod
    def turn_key(
        self,
        k: Float[Tensor, "batch kv_heads key head_dim"],
        *,
        time: Int64[Tensor, "batch key"] | None = None,
        position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Float[Tensor, "batch kv_heads key head_dim"]:
        """What the encoding does to keys, for `rotate_key` once it has seen that they fit."""

    def rotate_query(
        self,
        q: Float[Tensor, "batch heads query head_dim"],
        *,
        time: Int64[Tensor, "batch query"] | None = None,
        position: Int64[Tensor, "*batch query"] | None = None,
    ) -> Float[Tensor, "batch heads query head_dim"]:
        """Rotate queries, shape ``(batch, heads, query, head_dim)``, by the time at which each asks.

        Raises:
            InputError: They are not what it was built for, or a time or position is missing or does not fit.
        """
        self.require_fitting(q, time, position, "query")
        return self.turn_query(q, time=time, position=position)

    def rotate_key(
        self,
        k: Float[Tensor, "batch kv_heads key head_dim"],
        *,
        time: Int64[Tensor, "batch key"] | None = None,
        position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Float[Tensor, "batch kv_heads key head_dim"]:
        """Rotate keys, shape ``(batch, kv_heads, key, head_dim)``, by the time of each event.

        Raises:
            InputError: They are not what it was built for, or a time or position is missing or does not fit.
        """
        self.require_fitting(k, time, position, "key")
        return self.turn_key(k, time=time, position=position)

    def forward(
        self,
        q: Float[Tensor, "batch heads query head_dim"],
        k: Float[Tensor, "batch kv_heads key head_dim"],
        query_time: Int64[Tensor, "batch query"] | None = None,
        key_time: Int64[Tensor, "batch key"] | None = None,
        query_position: Int64[Tensor, "*batch query"] | None = None,
        key_position: Int64[Tensor, "*batch key"] | None = None,
    ) -> tuple[Float[Tensor, "batch heads query head_dim"], Float[Tensor, "batch kv_heads key head_dim"]]:
        """Rotate queries and keys.

        Where both stand at the same times, the same tensor of them, what belongs to the times alone may be
        found once; see `TurnsTogether`.

        Raises:
            InputError: As `rotate_query` and `rotate_key`.
        """
        alike = query_time is key_time and query_position is key_position
        if alike and isinstance(self, TurnsTogether) and not _is_recorded():
            self.require_fitting(q, query_time, query_position, "query")
            self.require_fitting(k, key_time, key_position, "key")
            return self.turn_both(q, k, time=query_time, position=query_position)
        return (
            self.rotate_query(q, time=query_time, position=query_position),
            self.rotate_key(k, time=key_time, position=key_position),
        )

    if TYPE_CHECKING:  # nn.Module's own says Any
        __call__ = forward

    def require_fitting(self, x: object, time: object, position: object, whose: str) -> None:
        """Refuse features that it was not built for, and times and positions that are not theirs.

        Args:
            x: Queries or keys.
            time: Their times, or ``None``.
            position: Their positions, or ``None``.
            whose: ``"query"`` or ``"key"``.

        Raises:
            InputError: It is refused.
        """
        features = require_floats(f"{whose} features", x)
        site, jagged = self._site, features.is_nested
        heads = None if site is None else site.num_heads if whose == "query" else site.num_kv_heads
        sized = site is None or (features.ndim == 4 and features.shape[1::2] == (heads, site.head_dim))
        if not jagged and (features.ndim != 4 or not sized):
            built = "" if site is None else f" was built for {heads} heads of {site.head_dim} features, and"
            raise InputError(
                f"{self.name}{built} expects (batch, heads, length, head_dim): {whose} features have shape "
                f"{tuple(features.shape)}"
            )
        if time is not None or self.needs_clock:
            asked = require_time(time, self.name, whose)
            if not jagged:
                require_times_of(features, asked, self.name)
            if self.needs_clock and site is not None:
                require_range(asked, ticks_per_second(site.unit), f"{whose} time")
        if position is not None and not jagged:
            require_positions(features, position, self.name)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Rotation":
        """Let PyTorch move what we hold, but not round it: bfloat16 frequencies would lose the clock."""

        def move(tensor: Tensor) -> Tensor:
            moved = fn(tensor)
            return moved if moved.dtype == tensor.dtype else tensor.to(moved.device)

        super()._apply(move, recurse)  # type: ignore[no-untyped-call]
        return self


class TurnsTogether(ABC):
    """A `Rotation` that finds once, for queries and keys alike, what belongs to their times and positions.

    Its `turn_both` gives what its ``turn_query`` and ``turn_key`` give, to the last bit. It is asked where
    both are given the same tensors, and in eager mode alone: a compiler finds for itself what is computed
    twice, and what a tracer records must hold for other times as well.
    """

    @abstractmethod
    def turn_both(
        self,
        q: Float[Tensor, "batch heads length head_dim"],
        k: Float[Tensor, "batch kv_heads length head_dim"],
        *,
        time: Int64[Tensor, "batch length"] | None = None,
        position: Int64[Tensor, "*batch length"] | None = None,
    ) -> tuple[Float[Tensor, "batch heads length head_dim"], Float[Tensor, "batch kv_heads length head_dim"]]:
        """What the encoding does to queries and keys that stand at the same times and positions."""


class Encoding(Recipe, ABC):
    """Recipe of a `Rotation`: a frozen dataclass, one TOML table."""

    @property
    @abstractmethod
    def needs_clock(self) -> bool:
        """Whether what it builds rotates by time."""

    @abstractmethod
    def rotation(self, site: Site) -> Rotation:
        """Make the module for a site; frequencies are drawn here, never in ``forward``.

        Raises:
            InputError: The encoding does not fit the site.
        """

    def build(
        self,
        *,
        head_dim: int,
        num_heads: int,
        num_kv_heads: int | None = None,
        layer: int = 0,
        seed: int = 0,
        unit: str = "s",
    ) -> Rotation:
        """Build the module of one layer.

        Args:
            head_dim: Features of a head, even.
            num_heads: Query heads.
            num_kv_heads: Key heads; by default as many. With fewer, each and the queries of its group share
                one draw.
            layer: Index of the layer; each has its own draw.
            seed: Of the run.
            unit: Unit of the clock: s, ms, us or ns.

        Raises:
            InputError: Sizes do not fit.
        """
        key_heads = num_heads if num_kv_heads is None else num_kv_heads
        site = Site(head_dim, num_heads, key_heads, layer, seed, unit)
        rotation = self.rotation(site)
        rotation._site = site
        return rotation


def _is_recorded() -> bool:
    """Whether a compiler or a tracer watches, which would keep what holds for these arguments alone."""
    return torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None


def require_time(time: object, name: str, whose: str) -> Tensor:
    """The time that an encoding needs.

    Raises:
        InputError: It is missing, not int64, or not of shape ``(batch, length)``.
    """
    if time is None:
        raise InputError(f"{name} needs the time of each {whose}: pass int64 clock ticks since the epoch")
    ticks = require_tensor(f"{whose} time", time)
    if ticks.dtype != torch.int64:
        raise InputError(
            f"{whose} time is {ticks.dtype}: {name} expects torch.int64 clock ticks since the epoch"
        )
    if ticks.ndim != 2:
        raise InputError(f"{whose} time has shape {tuple(ticks.shape)}: {name} expects (batch, length)")
    return ticks


def given(time: Tensor | None) -> Tensor:
    """The time that `Rotation.require_fitting` has seen to be there."""
    assert time is not None
    return time
