"""T-RoPE: rotation by time with learned coefficients on a geometric bank, keys turned backwards."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor, nn

from rota.encodings.base import Encoding, Rotation, require_time
from rota.encodings.site import Site
from rota.frequencies.geometric import geometric_bank
from rota.frequencies.streams import streams
from rota.rotary.apply import rotate
from rota.rotary.clock import require_times_of
from rota.rotary.phase import real_turns
from rota.units import ticks_per_second


class CoefficientRotation(Rotation):
    """Turns queries by ``alpha_q t / beta`` and keys by ``-alpha_k t / beta`` radians, all heads alike.

    The gradient of a token's phase is summed over heads in float32 or better, that of a coefficient over
    tokens in float64.

    Attributes:
        query_coefficients: Learned ``alpha_q``, float64, shape ``(pairs,)``: one float32 step of a
            coefficient near 1 would move the fastest plane by two radians.
        key_coefficients: Learned ``alpha_k``, likewise.
        cycles_per_second: ``1 / (2 pi beta)`` of the bank, float64, shape ``(pairs,)``.
    """

    needs_clock = True
    cycles_per_second: Tensor

    def __init__(
        self,
        query_coefficients: Float64[Tensor, " pairs"],
        key_coefficients: Float64[Tensor, " pairs"],
        cycles_per_second: Float64[Tensor, " pairs"],
        *,
        unit: str = "s",
    ) -> None:
        super().__init__()
        self.query_coefficients = nn.Parameter(query_coefficients)
        self.key_coefficients = nn.Parameter(key_coefficients)
        self.register_buffer("cycles_per_second", cycles_per_second)
        self.ticks_per_second = ticks_per_second(unit)

    def rotate_query(
        self, q: Tensor, *, time: Int64[Tensor, "batch query"] | None = None, position: Tensor | None = None
    ) -> Tensor:
        """Rotate queries, shape ``(batch, heads, query, head_dim)``, by the time at which each asks (Eq. 6).

        Raises:
            InputError: There is no time, or shapes do not fit.
        """
        return self._rotate(q, require_time(time, "T-RoPE", "query"), self.query_coefficients)

    def rotate_key(
        self, k: Tensor, *, time: Int64[Tensor, "batch key"] | None = None, position: Tensor | None = None
    ) -> Tensor:
        """Rotate keys, shape ``(batch, kv_heads, key, head_dim)``, back by the time of each event (Eq. 7).

        Raises:
            InputError: There is no time, or shapes do not fit.
        """
        return self._rotate(k, require_time(time, "T-RoPE", "key"), -self.key_coefficients)

    def _rotate(self, x: Tensor, time: Tensor, coefficients: Tensor) -> Tensor:
        require_times_of(x, time, "T-RoPE")
        turns = real_turns(time[..., None], coefficients * self.cycles_per_second, self.ticks_per_second)
        return rotate(x, turns.unsqueeze(1))


@dataclass(frozen=True)
class TRoPE(Encoding):
    """Time-aware rotary embedding (T-RoPE, Eq. 1-9): free coefficients and the non-stationary key.

    Coefficients of query and key are independent, one for each plane, shared by the heads of a layer, and
    start as ``N(0, 1)`` times the spread (App. B.1). The phase of query and key together is a sum of two
    times, so a common shift of all times changes the logits: it can tell the season.

    Attributes:
        shortest: Smallest time scale beta of the bank in seconds (a period of ``2 pi`` times that).
        longest: Largest time scale beta in seconds.
        spread: Standard deviation of the coefficients at the start.
    """

    shortest: float = 1e2
    longest: float = 1e8
    spread: float = 1.0
    needs_clock = True

    def rotation(self, site: Site) -> CoefficientRotation:
        """Draw the starting coefficients of one layer and build the rotation.

        Raises:
            InputError: Sizes do not fit, or the bank's range is not ``0 < shortest <= longest``.
        """
        bank = 1 / (2 * math.pi * geometric_bank(site.pairs, self.shortest, self.longest))
        start = self.spread * streams(site.seed, site.layer, site.path)(None).standard_normal((2, site.pairs))
        query, key = torch.from_numpy(start.astype(np.float64))
        return CoefficientRotation(query.clone(), key.clone(), torch.from_numpy(bank), unit=site.unit)
