"""Split: several encodings side by side, each on its share of a head's features."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from rota.encodings.base import Encoding, Rotation
from rota.encodings.shares import share_pairs
from rota.encodings.site import Site
from rota.errors import InputError


class SplitRotation(Rotation):
    """Each part rotates its own block of features.

    Attributes:
        parts: Rotations in the order of their blocks.
        widths: Features of each block.
    """

    def __init__(self, parts: Sequence[Rotation], widths: Sequence[int]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.widths = list(widths)
        self.needs_clock = any(part.needs_clock for part in parts)
        self.cacheable = all(part.cacheable for part in parts)

    def rotate_query(
        self,
        q: Float[Tensor, "batch heads query head_dim"],
        *,
        time: Int64[Tensor, "batch query"] | None = None,
        position: Int64[Tensor, "*batch query"] | None = None,
    ) -> Float[Tensor, "batch heads query head_dim"]:
        """Rotate each block of the queries, shape ``(batch, heads, query, head_dim)``, by its part."""
        return self._rotate(q, lambda part, block: part.rotate_query(block, time=time, position=position))

    def rotate_key(
        self,
        k: Float[Tensor, "batch kv_heads key head_dim"],
        *,
        time: Int64[Tensor, "batch key"] | None = None,
        position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Float[Tensor, "batch kv_heads key head_dim"]:
        """Rotate each block of the keys, shape ``(batch, kv_heads, key, head_dim)``, by its part."""
        return self._rotate(k, lambda part, block: part.rotate_key(block, time=time, position=position))

    def _rotate(self, x: Tensor, turn: Callable[[Rotation, Tensor], Tensor]) -> Tensor:
        blocks = x.split(self.widths, -1)
        return torch.cat([turn(part, block) for part, block in zip(self.parts, blocks, strict=True)], -1)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Split(Encoding):
    """Feature-wise combination, as the ClockRoPE paper combines with RoPE (Sec. 4.1.2).

    Attributes:
        parts: Encodings in the order of their blocks of features.
        shares: Of the pairs of features, summing to one; equal by default. What does not divide goes to the
            largest remainder.
    """

    parts: Sequence[Encoding]
    shares: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.parts, Encoding):
            raise InputError(f"Split takes a list of encodings: write Split([{self.parts!r}, ...])")
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "shares", None if self.shares is None else tuple(self.shares))
        if not self.parts:
            raise InputError("Split has no parts: expected at least one encoding")

    @property
    def needs_clock(self) -> bool:
        """Whether any part rotates by time."""
        return any(part.needs_clock for part in self.parts)

    def rotation(self, site: Site) -> SplitRotation:
        """Build every part on its share, each with draws of its own.

        Raises:
            InputError: Shares do not fit, or a part does not.
        """
        widths = [2 * pairs for pairs in share_pairs(site.pairs, len(self.parts), self.shares)]
        built = [
            encoding.rotation(site.part(part, width))
            for part, (encoding, width) in enumerate(zip(self.parts, widths, strict=True))
        ]
        return SplitRotation(built, widths)
