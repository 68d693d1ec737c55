"""Combination: several encodings in one layer; what `Split` and `HeadSplit` have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from jaxtyping import Float, Int64
from torch import Tensor, nn

from rota.encodings.base import Encoding, Rotation
from rota.encodings.numerals import shown
from rota.encodings.shares import read_shares
from rota.errors import InputError

__all__ = ["Combination", "CombinedRotation"]

Turn = Callable[[Rotation, Tensor], Tensor]


class CombinedRotation(Rotation, ABC):
    """Each part rotates its own block of queries and keys.

    Attributes:
        parts: Rotations in the order of their blocks.
    """

    def __init__(self, parts: Sequence[Rotation]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.needs_clock = any(part.needs_clock for part in parts)
        self.cacheable = all(part.cacheable for part in parts)

    @abstractmethod
    def blocks_of_query(self, q: Tensor) -> Sequence[Tensor]:
        """Block of each part."""

    @abstractmethod
    def blocks_of_key(self, k: Tensor) -> Sequence[Tensor]:
        """Block of each part."""

    @abstractmethod
    def join(self, blocks: Sequence[Tensor]) -> Tensor:
        """Blocks as they were before they were taken apart."""

    def turn_query(
        self,
        q: Float[Tensor, "batch heads query head_dim"],
        *,
        time: Int64[Tensor, "batch query"] | None = None,
        position: Int64[Tensor, "*batch query"] | None = None,
    ) -> Float[Tensor, "batch heads query head_dim"]:
        """Rotate each block of the queries, shape ``(batch, heads, query, head_dim)``, by its part."""
        return self._rotate(
            self.blocks_of_query(q),
            lambda part, block: part.turn_query(block, time=time, position=position),
        )

    def turn_key(
        self,
        k: Float[Tensor, "batch kv_heads key head_dim"],
        *,
        time: Int64[Tensor, "batch key"] | None = None,
        position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Float[Tensor, "batch kv_heads key head_dim"]:
        """Rotate each block of the keys, shape ``(batch, kv_heads, key, head_dim)``, by its part."""
        return self._rotate(
            self.blocks_of_key(k), lambda part, block: part.turn_key(block, time=time, position=position)
        )

    def _rotate(self, blocks: Sequence[Tensor], turn: Turn) -> Tensor:
        return self.join([turn(part, block) for part, block in zip(self.parts, blocks, strict=True)])  # type: ignore[arg-type]


@dataclass(frozen=True)
class Combination(Encoding, ABC):
    """Recipe of several encodings in one layer.

    Attributes:
        parts: Encodings in the order of their blocks.
        shares: Of each part, positive, summing to one; equal by default.
    """

    parts: Sequence[Encoding]
    shares: Sequence[float] | None = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        if isinstance(self.parts, Encoding):
            raise InputError(f"{name} takes a list of encodings: write {name}([{self.parts!r}, ...])")
        if isinstance(self.parts, str) or not isinstance(self.parts, Iterable):
            raise InputError(
                f"{name} parts {shown(self.parts)}: expected a list of encodings; write {name}([RoPE(), ...])"
            )
        object.__setattr__(self, "parts", tuple(self.parts))
        for index, part in enumerate(self.parts):
            _require_encoding(part, f"{name} part {index}")
        object.__setattr__(self, "shares", read_shares(self.shares, name))
        if not self.parts:
            raise InputError(f"{name} has no parts: expected at least one encoding")

    @property
    def needs_clock(self) -> bool:
        """Whether any part rotates by time."""
        return any(part.needs_clock for part in self.parts)


def _require_encoding(part: object, where: str) -> None:
    if isinstance(part, type):
        raise InputError(
            f"{where} is the class {part.__name__}: expected an encoding; write {part.__name__}()"
        )
    if not isinstance(part, Encoding):
        raise InputError(f"{where} is {shown(part)}: expected an encoding; write for instance RoPE()")
