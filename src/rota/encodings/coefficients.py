"""Rotation by time at frequencies that are learned coefficients of a bank: what T-RoPE builds."""

from collections.abc import Mapping

from jaxtyping import Float64, Int64
from torch import Tensor, nn

from rota.encodings.base import Rotation, given
from rota.rotary.apply import rotate
from rota.rotary.phase import real_turns
from rota.units import ticks_per_second

Mix = tuple[tuple[int, ...], tuple[int, ...]]


class CoefficientRotation(Rotation):
    """Turns queries and keys by ``(start + mix learned cycles_per_second) (t - origin)``, all heads alike.

    The gradient of a token's phase is summed over heads in float32 or better, that of what is learned over
    tokens in float64. What is learned is float64: one float32 step of a coefficient near 1 would move the
    fastest plane of T-RoPE's bank by two radians.

    Attributes:
        names: Of what is learned, float64 parameters of this module, each of shape ``(pairs,)``.
        mix: How they make up the frequency of queries (first) and of keys (second): 0, 1 or -1 of each.
        cycles_per_second: Of one unit of what is learned, float64, shape ``(pairs,)``.
        start: Cycles per second of queries and of keys where all that is learned is 0, float64, shape
            ``(2, pairs)``, which a checkpoint keeps; ``None`` where they are 0.
        origin: Seconds since the epoch, from which time is counted.
    """

    name = "T-RoPE"
    needs_clock = True
    query_coefficients: Tensor
    key_coefficients: Tensor
    cycles_per_second: Tensor
    start: Tensor | None

    def __init__(
        self,
        learned: Mapping[str, Float64[Tensor, " pairs"]],
        mix: Mix,
        cycles_per_second: Float64[Tensor, " pairs"],
        *,
        start: Float64[Tensor, "2 pairs"] | None = None,
        origin: int = 0,
        unit: str = "s",
    ) -> None:
        super().__init__()
        self.names, self.mix = tuple(learned), mix
        for name, values in learned.items():
            self.register_parameter(name, nn.Parameter(values))
        self.register_buffer("cycles_per_second", cycles_per_second)
        self.register_buffer("start", start)
        self.origin = origin
        self.ticks_per_second = ticks_per_second(unit)

    @property
    def query_cycles_per_second(self) -> Float64[Tensor, " pairs"]:
        """Frequencies at which queries turn now; differentiable."""
        return self._cycles(0)

    @property
    def key_cycles_per_second(self) -> Float64[Tensor, " pairs"]:
        """Frequencies at which keys turn now, negative where they turn backwards; differentiable."""
        return self._cycles(1)

    def turn_query(
        self, q: Tensor, *, time: Int64[Tensor, "batch query"] | None = None, position: Tensor | None = None
    ) -> Tensor:
        """Rotate queries, shape ``(batch, heads, query, head_dim)``, by the time of each request (Eq. 6)."""
        return self._rotate(q, given(time), self._cycles(0))

    def turn_key(
        self, k: Tensor, *, time: Int64[Tensor, "batch key"] | None = None, position: Tensor | None = None
    ) -> Tensor:
        """Rotate keys, shape ``(batch, kv_heads, key, head_dim)``, by the time of each event (Eq. 7)."""
        return self._rotate(k, given(time), self._cycles(1))

    def _cycles(self, row: int) -> Tensor:
        first, *rest = (
            weight * getattr(self, name) for weight, name in zip(self.mix[row], self.names, strict=True)
        )
        cycles: Tensor = sum(rest, start=first) * self.cycles_per_second
        return cycles if self.start is None else self.start[row] + cycles

    def _rotate(self, x: Tensor, time: Tensor, cycles: Tensor) -> Tensor:
        since = time - self.origin * self.ticks_per_second
        return rotate(x, real_turns(since[..., None], cycles, self.ticks_per_second).unsqueeze(1))
