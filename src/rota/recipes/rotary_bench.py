"""What a rotation by time costs: beside a copy of the same memory, and beside how others rotate."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import torch
from torch import Tensor

from rota.encodings.clockrope import ClockRoPE
from rota.encodings.trope import TRoPE
from rota.errors import InputError
from rota.kernels.wrapped_gaussian import WrappedGaussian
from rota.recipes.timing import Timing, Work, circumstances, measure
from rota.rotary import native

__all__ = ["RotaryBench", "bench_rotary"]

SHAPE = (64, 4, 200, 64)  # batch, heads, length, head_dim
LENGTHS = (1000, 10_000, 100_000, 1_000_000)
COPY, ROTA, PLAIN = "copy", "rota", "plain"
WITHOUT = "plain PyTorch"  # of Rota's rotations: without numba, which is not everywhere
PEERS = {"transformers": "transformers", "rotary-embedding-torch": "rotary_embedding_torch"}


@dataclass(frozen=True)
class RotaryBench:
    """Timings of the rotation of q and k.

    Attributes:
        shape: Batch, heads, length, head_dim.
        forward: Phases from int64 times included, but for those named "ready", which are given them.
        training: Forward and backward of a sum of the rotated features.
        lengths: Length and timings of one user and one head, of so many events.
        native: Whether numba turned the pairs of what is not said to be compiled or plain PyTorch.
        missing: Peers that are not installed.
        circumstances: Processor, threads, versions, commit.
    """

    shape: tuple[int, int, int, int]
    forward: Sequence[Timing]
    training: Sequence[Timing]
    lengths: Sequence[tuple[int, Sequence[Timing]]]
    native: bool
    missing: Sequence[str]
    circumstances: dict[str, object]

    @property
    def bytes_moved(self) -> int:
        """Bytes that a copy of q and k in float32 reads and writes."""
        return 2 * 2 * 4 * math.prod(self.shape)

    def to_dict(self) -> dict[str, object]:
        """Everything, raw timings included, as JSON can hold it."""
        return {
            "schema": "rota.bench.rotary/1",
            "shape": list(self.shape),
            "bytes_of_a_copy": self.bytes_moved,
            "circumstances": self.circumstances,
            "native": self.native,
            "missing": list(self.missing),
            "forward_seconds": {timing.name: list(timing.seconds) for timing in self.forward},
            "training_seconds": {timing.name: list(timing.seconds) for timing in self.training},
            "seconds_by_length": [
                {"length": length, **{timing.name: list(timing.seconds) for timing in timings}}
                for length, timings in self.lengths
            ],
        }


def bench_rotary(
    *,
    rounds: int = 40,
    threads: int | None = None,
    compiled: bool = True,
    longest: int = LENGTHS[-1],
    on_progress: Callable[[str, int, int], None] | None = None,
) -> RotaryBench:
    """Time ClockRoPE's rotation beside its rivals, all in one process and in both orders.

    Args:
        rounds: Measured rounds.
        threads: Of PyTorch; by default those it has.
        compiled: Also time ``torch.compile``, which takes a minute to start.
        longest: Longest history of the timings by length.
        on_progress: Told what is timed, the rounds done and all rounds.

    Raises:
        InputError: No rounds, no threads, or a longest history below the shortest that is timed.
    """
    if rounds < 1 or (threads is not None and threads < 1):
        raise InputError(f"{rounds} rounds on {threads} threads: expected at least one of each")
    if longest < LENGTHS[0]:
        raise InputError(
            f"longest {longest}: expected {LENGTHS[0]} events or more, which are timed in any case"
        )
    before = torch.get_num_threads()
    torch.set_num_threads(threads or before)

    def timed(label: str, contenders: dict[str, Work], turns: int) -> list[Timing]:
        if on_progress is not None:
            on_progress(label, 0, turns + 5)
        told = None if on_progress is None else lambda done: on_progress(label, done, turns + 5)
        return measure(contenders, rounds=turns, on_round=told)

    try:
        with torch.inference_mode():
            forward = timed("forward", _forward(compiled), rounds)
        training = timed("forward and backward", _training(), max(1, rounds // 2))
        with torch.inference_mode():
            lengths = [
                (length, timed(f"{length:,} events", _of_length(length), max(1, rounds // 8)))
                for length in LENGTHS
                if length <= longest
            ]
        return RotaryBench(
            SHAPE,
            forward,
            training,
            lengths,
            native.available(),
            _missing(),
            circumstances("numba", "transformers", "rotary-embedding-torch"),
        )
    finally:
        torch.set_num_threads(before)


def _inputs(shape: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    batch, _, length, _ = shape
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(*shape, generator=generator) for _ in range(2))
    gaps = torch.randint(30, 5000, (batch, length), generator=generator)  # a million end in this century
    return q, k, 1_600_000_000 + gaps.cumsum(1)


def _forward(compiled: bool) -> dict[str, Work]:
    q, k, time = _inputs(SHAPE)
    _, heads, _, width = SHAPE
    clock = ClockRoPE([WrappedGaussian("24h", "2h")]).build(head_dim=width, num_heads=heads)
    cycles = clock.cycles_per_second
    assert isinstance(cycles, Tensor)
    torch.testing.assert_close(clock(q, k, time, time)[0], plain(q, time, cycles), rtol=0, atol=1e-5)
    contenders: dict[str, Work] = {
        COPY: lambda: (q.clone(), k.clone()),
        ROTA: lambda: clock(q, k, time, time),
        f"{ROTA}, {WITHOUT}": _without_numba(lambda: clock(q, k, time, time)),
        PLAIN: lambda: (plain(q, time, cycles), plain(k, time, cycles)),
    }
    contenders |= _peers(q, k)
    if compiled:
        fast, fast_plain = torch.compile(clock), torch.compile(plain)
        contenders[f"{ROTA}, compiled"] = lambda: fast(q, k, time, time)
        contenders[f"{PLAIN}, compiled"] = lambda: (fast_plain(q, time, cycles), fast_plain(k, time, cycles))
    return contenders


def plain(x: Tensor, time: Tensor, cycles_per_second: Tensor) -> Tensor:
    """Form every angle of every head in float64, then rotate in real arithmetic."""
    turns = time[:, None, :, None].double() * cycles_per_second[None, :, None, :]
    angle = (2 * math.pi * (turns - turns.round())).float()
    cosine, sine = angle.cos(), angle.sin()
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack((first * cosine - second * sine, first * sine + second * cosine), -1).flatten(-2)


def _peers(q: Tensor, k: Tensor) -> dict[str, Work]:
    """Peers rotate all heads alike, and are given their angles."""
    batch, _, length, width = q.shape
    angle = torch.rand(batch, length, width // 2, generator=torch.Generator().manual_seed(1)) * 2 * math.pi
    contenders: dict[str, Work] = {}
    if find_spec("transformers"):
        from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

        both = torch.cat((angle, angle), -1)
        cosine, sine = both.cos(), both.sin()
        contenders["transformers, ready angles"] = lambda: apply_rotary_pos_emb(q, k, cosine, sine)
    if find_spec("rotary_embedding_torch"):
        from rotary_embedding_torch import apply_rotary_emb

        ready = angle.repeat_interleave(2, -1)[:, None]
        contenders["rotary-embedding-torch, ready angles"] = lambda: (
            apply_rotary_emb(ready, q),
            apply_rotary_emb(ready, k),
        )
    return contenders


def _missing() -> list[str]:
    return [name for name, module in PEERS.items() if not find_spec(module)]


def _training() -> dict[str, Work]:
    q, k, time = _inputs(SHAPE)
    q.requires_grad_(), k.requires_grad_()
    _, heads, _, width = SHAPE
    weight = torch.randn(2, *SHAPE, generator=torch.Generator().manual_seed(2))
    clock = ClockRoPE([WrappedGaussian("24h", "2h")]).build(head_dim=width, num_heads=heads)
    learnt = TRoPE().build(head_dim=width, num_heads=heads)

    def step(rotate: Callable[[], tuple[Tensor, Tensor]]) -> Work:
        def work() -> None:
            out = rotate()
            torch.autograd.backward(out, (weight[0], weight[1]))
            q.grad = k.grad = None
            learnt.zero_grad()

        return work

    ours = {
        "rota, fixed phases": step(lambda: clock(q, k, time, time)),
        "rota, learnable phases": step(lambda: learnt(q, k, time, time)),
    }
    plainly = {f"{name}, {WITHOUT}": _without_numba(work) for name, work in ours.items()}
    return {COPY: step(lambda: (q.clone(), k.clone()))} | ours | plainly


def _without_numba(work: Work) -> Work:
    def done() -> object:
        with native.plain_pytorch():
            return work()

    return done


def _of_length(length: int) -> dict[str, Work]:
    q, k, time = _inputs((1, 1, length, SHAPE[-1]))
    clock = ClockRoPE([WrappedGaussian("24h", "2h")]).build(head_dim=SHAPE[-1], num_heads=1)
    return {COPY: lambda: (q.clone(), k.clone()), ROTA: lambda: clock(q, k, time, time)}
