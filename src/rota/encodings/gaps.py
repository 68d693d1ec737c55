"""Rotation by position and by the logarithm of a gap in time: what ROTE builds."""

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor, nn

from rota.choice import Choice
from rota.encodings.base import Rotation, given
from rota.encodings.positions import positions_of
from rota.errors import InputError
from rota.rotary.apply import rotate
from rota.rotary.phase import real_turns
from rota.units import ticks_per_second


class Gap(Choice):
    """What a gap is counted from.

    Attributes:
        REQUEST: From the time of the row's request.
        PREVIOUS: From the time before it in the row, the first of which has a gap of 0.
    """

    REQUEST = "request"
    PREVIOUS = "previous"


class GapRotation(Rotation):
    """Turns by ``position * f_p + log(1 + gap / scale) * f_t``, all heads alike; one rotation, norms kept.

    Every key depends on another time of its row, so that none can be cached.

    Attributes:
        cycles_per_position: ``f_p``, float64, shape ``(pairs,)``.
        cycles_per_fold: ``f_t``, cycles for every factor e of ``1 + gap / scale``, float64, shape
            ``(pairs,)``; learned or fixed.
        scale: Seconds.
        gap: What it is counted from.
    """

    name = "ROTE"
    needs_clock = True
    cacheable = False
    cycles_per_position: Tensor

    def __init__(
        self,
        cycles_per_position: Float64[Tensor, " pairs"],
        cycles_per_fold: Float64[Tensor, " pairs"],
        *,
        scale: float,
        gap: Gap,
        learned: bool,
        unit: str = "s",
    ) -> None:
        super().__init__()
        self.register_buffer("cycles_per_position", cycles_per_position)
        self.cycles_per_fold = nn.Parameter(cycles_per_fold, requires_grad=learned)
        self.scale, self.gap = scale, gap
        self.ticks_per_second = ticks_per_second(unit)

    def forward(
        self,
        q: Float[Tensor, "batch heads query head_dim"],
        k: Float[Tensor, "batch kv_heads key head_dim"],
        query_time: Int64[Tensor, "batch query"] | None = None,
        key_time: Int64[Tensor, "batch key"] | None = None,
        query_position: Int64[Tensor, "*batch query"] | None = None,
        key_position: Int64[Tensor, "*batch key"] | None = None,
    ) -> tuple[Float[Tensor, "batch heads query head_dim"], Float[Tensor, "batch kv_heads key head_dim"]]:
        """Rotate queries and keys of rows together: keys by the request that the queries of their row make.

        Raises:
            InputError: A time is missing, or shapes do not fit.
        """
        self.require_fitting(q, query_time, query_position, "query")
        self.require_fitting(k, key_time, key_position, "key")
        asked, seen = given(query_time), given(key_time)
        origin = self._origin(asked), self._origin(seen)
        of_keys = origin[0] if self.gap == Gap.REQUEST else origin[1]
        return self._rotate(q, asked, origin[0], query_position), self._rotate(k, seen, of_keys, key_position)

    def turn_query(
        self,
        q: Tensor,
        *,
        time: Int64[Tensor, "batch query"] | None = None,
        position: Int64[Tensor, "*batch query"] | None = None,
    ) -> Tensor:
        """Rotate all queries of rows, shape ``(batch, heads, query, head_dim)``.

        The row is what is passed: by gaps to the time before, a query passed alone is the first and has gap
        0; pass the row from its start.
        """
        asked = given(time)
        return self._rotate(q, asked, self._origin(asked), position)

    def turn_key(
        self,
        k: Tensor,
        *,
        time: Int64[Tensor, "batch key"] | None = None,
        position: Int64[Tensor, "*batch key"] | None = None,
    ) -> Tensor:
        """Rotate all keys of rows, shape ``(batch, kv_heads, key, head_dim)``, by gaps between them.

        Raises:
            InputError: There is no time, shapes do not fit, or the gap is to a request that keys by
                themselves do not know.
        """
        seen = given(time)
        if self.gap == Gap.REQUEST:
            raise InputError(
                "ROTE turns keys by their gap to the request, which rotate_key is not told: rotate queries "
                'and keys together, rotation(q, k, query_time, key_time), or use gap "previous"'
            )
        return self._rotate(k, seen, self._origin(seen), position)

    def _origin(self, time: Tensor) -> Tensor:
        """What gaps are counted from: the row's latest time, which is its request, or the time before."""
        if self.gap == Gap.REQUEST:
            return time.amax(1, keepdim=True)  # padding repeats the last valid time, or comes before
        return torch.cat((time[:, :1], time[:, :-1]), 1)

    def _rotate(self, x: Tensor, time: Tensor, origin: Tensor, position: Tensor | None) -> Tensor:
        place = positions_of(x, position)[..., None, :, None]
        gap = (time - origin).abs().double() / (self.ticks_per_second * self.scale)
        cycles = gap.log1p()[:, None, :, None] * self.cycles_per_fold
        by_time = (cycles - cycles.detach().round()).float()
        return rotate(x, real_turns(place, self.cycles_per_position) + by_time)
