"""PositionBias: a learned number for each distance in the row, HSTU's without a clock."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from rota.encodings.bias import BiasRecipe, LogitBias, looked_up, starting_table
from rota.encodings.numerals import require_spread, require_whole
from rota.errors import InputError
from rota.rotary.clock import values_known


class DistanceBias(LogitBias):
    """``w[max_len - 1 + j - i]`` for a query at position ``i`` and an event at ``j``, the same for all heads.

    Attributes:
        weight: Shape ``(2 max_len - 1,)``. Its second half is of events after the query: causal attention
            never reads it, so that it is never trained.
    """

    def __init__(self, weight: Float[Tensor, " distances"]) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.max_len = (len(weight) + 1) // 2

    def forward(
        self,
        query_time: Int64[Tensor, "batch query"] | None,
        key_time: Int64[Tensor, "batch key"] | None,
        query_position: Int64[Tensor, "*batch query"] | None = None,
        key_position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Float[Tensor, "#batch 1 query key"]:
        """Bias of each pair, shape ``(batch or 1, 1, query, key)``; times are only counted.

        Raises:
            InputError: Neither positions nor times are given, positions are missing for queries that are not
                one for each event, a row has more than ``max_len`` events, or positions are ``max_len`` or
                more apart (where values are known, see `values_known`; elsewhere torch's own error).
        """
        query = self._places(query_position, query_time, key_time, "query")
        key = self._places(key_position, key_time, query_time, "key")
        self._require_near(query, key)
        distance = key[..., None, :] - query[..., :, None]
        bias = looked_up(self.weight, distance + (self.max_len - 1))
        return bias.unsqueeze(-3) if bias.ndim == 3 else bias[None, None]

    def _require_near(self, query: Tensor, key: Tensor) -> None:
        if not (query.numel() and key.numel() and values_known(query) and values_known(key)):
            return
        ahead, behind = key.amax(-1) - query.amin(-1), query.amax(-1) - key.amin(-1)
        farthest = int(torch.maximum(ahead, behind).max())
        if farthest >= self.max_len:
            raise InputError(
                f"a query and an event {farthest} positions apart: the position bias was built with max_len "
                f"{self.max_len} and expects at most {self.max_len - 1}; build it with more, or pass the "
                "last events only"
            )

    def _places(self, given: Tensor | None, time: Tensor | None, other: Tensor | None, whose: str) -> Tensor:
        if given is not None:
            return given
        if time is None:
            raise InputError(
                f"the position bias needs the position of each {whose}: pass {whose}_position, for instance "
                "torch.arange(length)"
            )
        length = time.shape[-1]
        if other is not None and other.shape[-1] != length:
            raise InputError(
                f"{length} times of a {whose} and {other.shape[-1]} of the other: the position bias cannot "
                "tell where they stand; pass query_position and key_position"
            )
        if length > self.max_len:
            raise InputError(
                f"{length} events in a row: the position bias was built with max_len {self.max_len}; build "
                "it with more, or pass the last events only"
            )
        return torch.arange(length, device=time.device)


@dataclass(frozen=True)
class PositionBias(BiasRecipe):
    """HSTU's relative attention bias by position alone (Zhai et al. 2024; T-RoPE, Table 7, "Pos").

    A layer has its own, shared by its heads, which starts as ``N(0, spread^2)``.

    Attributes:
        spread: Standard deviation at the start.
    """

    spread: float = 0.02
    needs_clock = False

    def __post_init__(self) -> None:
        require_spread(self.spread, "spread", "PositionBias")

    def build(
        self, *, max_len: int, num_heads: int = 1, layer: int = 0, seed: int = 0, unit: str = "s"
    ) -> DistanceBias:
        """Draw the table of one layer; heads and unit do not matter to it.

        Raises:
            InputError: ``max_len`` is no whole number of at least 1.
        """
        require_whole(max_len, 1, "max_len")
        return DistanceBias(starting_table(2 * max_len - 1, self.spread, seed, layer, table=0))
