"""LearnableClock: rotation by time at frequencies that are trained, from zero or from ClockRoPE's draw."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float64, Int64
from torch import Tensor, nn

from rota.encodings.base import Encoding, Rotation, given
from rota.encodings.clockrope import ClockRoPE
from rota.encodings.harmonic import HarmonicRotation
from rota.encodings.numerals import shown
from rota.encodings.origins import START_OF_2020, require_origin
from rota.encodings.real import rotate_heads
from rota.encodings.site import Site
from rota.errors import InputError
from rota.types import Duration
from rota.units import seconds, ticks_per_second

_HOUR = 3600.0


class LearnableRotation(Rotation):
    """Rotates by time at the frequencies ``start + values * step``, of which the values are trained.

    Phases are float64 products of real frequencies with time. A residue of time modulo the period, which is
    exact for whole harmonics, would be wrong here: at every midnight the harmonic 1.01 would jump by a turn.

    Attributes:
        values: What is trained, float64, shape ``(kv_heads, pairs)``.
        start: Cycles per second when all values are zero, float64, likewise; a checkpoint keeps it.
        periods: Seconds, float64, shape ``(pairs,)``.
        step: Cycles per second of one unit of a value.
        origin: Seconds since the epoch, from which time is counted. Logits do not depend on it.
    """

    name = "LearnableClock"
    needs_clock = True
    start: Tensor
    periods: Tensor

    def __init__(
        self,
        values: Float64[Tensor, "kv_heads pairs"],
        start: Float64[Tensor, "kv_heads pairs"],
        periods: Float64[Tensor, " pairs"],
        *,
        step: float,
        origin: int,
        num_heads: int,
        unit: str = "s",
    ) -> None:
        super().__init__()
        self.values = nn.Parameter(values)
        self.register_buffer("start", start)
        self.register_buffer("periods", periods, persistent=False)
        self.step, self.origin, self.num_heads = step, origin, num_heads
        self.ticks_per_second = ticks_per_second(unit)

    @property
    def cycles_per_second(self) -> Float64[Tensor, "kv_heads pairs"]:
        """Frequencies as they are now; differentiable."""
        return self.start + self.values * self.step

    @property
    def harmonics(self) -> Float64[Tensor, "kv_heads pairs"]:
        """Frequencies in cycles a period, real numbers; differentiable."""
        return self.cycles_per_second * self.periods

    def turn_query(
        self, q: Tensor, *, time: Int64[Tensor, "batch query"] | None = None, position: Tensor | None = None
    ) -> Tensor:
        """Rotate queries, shape ``(batch, heads, query, head_dim)``, by the time at which each asks."""
        group = self.num_heads // self.start.shape[0]
        return self._rotate(q, given(time), group)

    def turn_key(
        self, k: Tensor, *, time: Int64[Tensor, "batch key"] | None = None, position: Tensor | None = None
    ) -> Tensor:
        """Rotate keys, shape ``(batch, kv_heads, key, head_dim)``, by the time of each event."""
        return self._rotate(k, given(time), 1)

    def _rotate(self, x: Tensor, time: Tensor, group: int) -> Tensor:
        since = time - self.origin * self.ticks_per_second
        return rotate_heads(x, since, self.cycles_per_second, self.ticks_per_second, group)


@dataclass(frozen=True)
class LearnableClock(Encoding):
    """Rotation at frequencies trained with the network (ClockRoPE, App. B, Table 9).

    The paper says from where they start, and no more: units, optimiser and heads are our reading. Each key
    head trains its own. The gradient at frequency zero is ``2 pi (t_q - t_k) (q_0 k_1 - q_1 k_0)``, so that
    training from zero does move, but a frequency acts through the phase over days and months: that is
    what one step must be small against.

    Attributes:
        clock: Periods, shares, and the law that frequencies are drawn from.
        init: ``"law"`` starts from that draw, ``"zero"`` from no rotation at all.
        form: ``"conditioned"``: what is trained is how far a frequency is from where it started, in cycles
            over ``span``, and time is counted from ``origin``. A step of ``lr`` (Adam's) then moves phases
            over the whole log by ``lr`` turns against each other, at every period, and weight decay, if
            any, pulls back to the start. ``"paper"``: the frequency itself in cycles per hour, which is the
            paper's unit of time, and time since the epoch: a step of 1e-3 moves today's phase by some 500
            turns, and those a day apart by 0.024.
        span: Length of the log, in the conditioned form.
        origin: Seconds since the epoch, near the middle of the log, in the conditioned form: one for all
            sequences, so that cached keys stay valid. Logits do not depend on it, but rounding of gradients
            grows with the distance from it. By default the start of 2020.
    """

    clock: ClockRoPE = field(default_factory=ClockRoPE)
    init: str = "law"
    form: str = "conditioned"
    span: Duration = "365d"
    origin: int = START_OF_2020
    needs_clock = True

    def __post_init__(self) -> None:
        if not isinstance(self.clock, ClockRoPE):
            raise InputError(
                f"clock {shown(self.clock)} of LearnableClock: expected a ClockRoPE; write "
                "LearnableClock(ClockRoPE([...])) with the kernels in it"
            )
        if self.init not in ("law", "zero"):
            raise InputError(f'init {self.init!r} of LearnableClock: expected "law" or "zero"')
        if self.form not in ("conditioned", "paper"):
            raise InputError(f'form {self.form!r} of LearnableClock: expected "conditioned" or "paper"')
        require_origin(self.origin, "LearnableClock")
        object.__setattr__(self, "span", seconds(self.span))

    def rotation(self, site: Site) -> LearnableRotation:
        """Draw where the frequencies of one layer start, and build their rotation.

        Raises:
            InputError: The clock does not fit the site.
        """
        drawn = self.clock.rotation(site)
        if not isinstance(drawn, HarmonicRotation):
            raise InputError(
                "LearnableClock starts from harmonics of a period: expected a ClockRoPE of periodic profiles "
                "alone; leave out what dies away"
            )
        start = drawn.cycles_per_second if self.init == "law" else torch.zeros_like(drawn.cycles_per_second)
        raw = self.form == "paper"
        return LearnableRotation(
            start * _HOUR if raw else torch.zeros_like(start),
            torch.zeros_like(start) if raw else start,
            drawn.periods.double() / drawn.ticks_per_second,
            step=1 / _HOUR if raw else 1 / seconds(self.span),
            origin=0 if raw else self.origin,
            num_heads=site.num_heads,
            unit=site.unit,
        )
