"""Split: several encodings side by side, each on its share of a head's features."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rota.encodings.base import Rotation
from rota.encodings.combination import Combination, CombinedRotation
from rota.encodings.shares import share_pairs
from rota.encodings.site import Site


class SplitRotation(CombinedRotation):
    """Each part rotates its own block of features.

    Attributes:
        widths: Features of each block.
    """

    name = "Split"

    def __init__(self, parts: Sequence[Rotation], widths: Sequence[int]) -> None:
        super().__init__(parts)
        self.widths = list(widths)

    def blocks_of_query(self, q: Tensor) -> Sequence[Tensor]:
        """Features of each part."""
        blocks: Sequence[Tensor] = q.split(self.widths, -1)
        return blocks

    def blocks_of_key(self, k: Tensor) -> Sequence[Tensor]:
        """Features of each part."""
        return self.blocks_of_query(k)

    def join(self, blocks: Sequence[Tensor]) -> Tensor:
        """All features of a head."""
        return torch.cat(list(blocks), -1)


@dataclass(frozen=True)
class Split(Combination):
    """Feature-wise combination, as the ClockRoPE paper combines with RoPE (Sec. 4.1.2).

    Pairs of features are dealt by the largest remainder, ties to the earlier part: of 16 pairs among shares
    of 0.5, 0.3 and 0.2 they get 8, 5 and 3. A part that would get no pair is refused.

    Attributes:
        parts: Encodings in the order of their blocks of features; any number of them, learned ones as well,
            or combinations in turn.
        shares: Of the pairs of features, positive, summing to one; equal by default.
    """

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
