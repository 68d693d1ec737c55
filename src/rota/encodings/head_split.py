"""HeadSplit: several encodings side by side, each on its share of the heads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from rota.encodings.base import Rotation
from rota.encodings.combination import Combination, CombinedRotation
from rota.encodings.shares import share_heads
from rota.encodings.site import Site


class HeadSplitRotation(CombinedRotation):
    """Each part rotates its own heads.

    Attributes:
        query_heads: Query heads of each part.
        key_heads: Key heads of each part.
    """

    name = "HeadSplit"

    def __init__(
        self, parts: Sequence[Rotation], query_heads: Sequence[int], key_heads: Sequence[int]
    ) -> None:
        super().__init__(parts)
        self.query_heads, self.key_heads = list(query_heads), list(key_heads)

    def blocks_of_query(self, q: Tensor) -> Sequence[Tensor]:
        """Query heads of each part."""
        blocks: Sequence[Tensor] = q.split(self.query_heads, 1)
        return blocks

    def blocks_of_key(self, k: Tensor) -> Sequence[Tensor]:
        """Key heads of each part."""
        blocks: Sequence[Tensor] = k.split(self.key_heads, 1)
        return blocks

    def join(self, blocks: Sequence[Tensor]) -> Tensor:
        """All heads."""
        return torch.cat(list(blocks), 1)


@dataclass(frozen=True)
class HeadSplit(Combination):
    """Head-wise combination, the other arm of the ClockRoPE paper's comparison (Table 6).

    Key heads are dealt, and the query heads of a group go with theirs. A share that is not a whole number of
    key heads is refused: with a few heads, rounding would give something else than was asked for. Where the
    published comparison differs from `Split`, it is by less than the noise of its single runs.

    Attributes:
        parts: Encodings in the order of their heads; any number of them, learned ones as well, or
            combinations in turn.
        shares: Of the heads, positive, summing to one; equal by default.
    """

    def rotation(self, site: Site) -> HeadSplitRotation:
        """Build every part on its heads, each with draws of its own.

        Raises:
            InputError: Shares do not fit or are not whole key heads, or a part does not fit.
        """
        key_heads = share_heads(site.num_kv_heads, len(self.parts), self.shares)
        group = site.num_heads // site.num_kv_heads
        query_heads = [heads * group for heads in key_heads]
        built = [
            encoding.rotation(replace(site, num_heads=of_query, num_kv_heads=of_key, path=(*site.path, part)))
            for part, (encoding, of_query, of_key) in enumerate(
                zip(self.parts, query_heads, key_heads, strict=True)
            )
        ]
        return HeadSplitRotation(built, query_heads, key_heads)
