"""What encodings cost: parameters and arithmetic by count, and the time of a training step beside RoPE's."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from rota.batch import Batch, TimeAccess
from rota.encodings.base import Encoding
from rota.encodings.rope import RoPE
from rota.errors import InputError
from rota.models.transformer import Transformer
from rota.recipes.addition_costs import count_addition, every_addition
from rota.recipes.encoding_costs import EncodingCost, count_encoding, every_encoding, published_trope_flops
from rota.recipes.timing import Timing, circumstances, measure
from rota.tables import Recipe, to_table

__all__ = ["EncodingBench", "EncodingRow", "bench_encodings", "everything_counted"]

BATCH, LENGTH, WIDTH, HEADS, LAYERS = 8, 200, 256, 4, 2
ROPE = "rope"
_AGAIN = "rope again"  # what differs here is the noise of the machine
_ITEMS, _RESAMPLES, _WARM = 1000, 4000, 3


@dataclass(frozen=True)
class EncodingRow:
    """One encoding, bias, input, or interval attention.

    Attributes:
        name: Of its file.
        encoding: Recipe.
        cost: By count.
        timing: Training steps; ``None`` where they were not timed.
        beside: RoPE's training steps that took turns with them.
    """

    name: str
    encoding: Recipe
    cost: EncodingCost
    timing: Timing | None = None
    beside: Timing | None = None

    @property
    def rotates(self) -> bool:
        """Whether it is an encoding, which the network that is timed takes; others are only counted."""
        return isinstance(self.encoding, Encoding)

    @property
    def ratio(self) -> tuple[float, float, float] | None:
        """Time relative to RoPE: median over pairs of rounds, and its 95 % bootstrap interval."""
        return None if self.timing is None or self.beside is None else paired_ratio(self.timing, self.beside)


@dataclass(frozen=True)
class EncodingBench:
    """Costs of encodings.

    Attributes:
        rows: One an encoding.
        circumstances: Processor, threads, versions, commit.
    """

    rows: Sequence[EncodingRow]
    circumstances: dict[str, object]

    def to_dict(self) -> dict[str, object]:
        """Everything, raw timings included, as JSON can hold it."""
        return {
            "schema": "rota.bench.encodings/1",
            "shape": {
                "batch": BATCH,
                "length": LENGTH,
                "embedding_dim": WIDTH,
                "num_heads": HEADS,
                "num_layers": LAYERS,
            },
            "circumstances": self.circumstances,
            "published_trope_flops": {
                what: {"formula": formula, "flops": value}
                for what, (formula, value) in published_trope_flops(WIDTH // HEADS, HEADS).items()
            },
            "encodings": [_as_dict(row) for row in self.rows],
        }


def _as_dict(row: EncodingRow) -> dict[str, object]:
    ratio = row.ratio
    return {
        "name": row.name,
        "kind": "rotation" if row.rotates else "addition",
        "recipe": to_table(row.encoding),
        "parameters": row.cost.parameters,
        "forward": asdict(row.cost.forward),
        "backward": {"features": row.cost.features.operations, "learned": row.cost.learned},
        "seconds": None if row.timing is None else list(row.timing.seconds),
        "rope_seconds": None if row.beside is None else list(row.beside.seconds),
        "ratio": None if ratio is None else dict(zip(("median", "lo", "hi"), ratio, strict=True)),
    }


def everything_counted() -> dict[str, Recipe]:
    """What `bench_encodings` counts by default: encodings, RoPE first, then biases, inputs and intervals."""
    return {**every_encoding(), **every_addition()}


def bench_encodings(
    *,
    encodings: Mapping[str, Recipe] | None = None,
    rounds: int = 20,
    threads: int | None = None,
    timed: bool = True,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> EncodingBench:
    """Count what encodings cost, and time a training step of a small network with each beside RoPE.

    The network is the one of `rota compare`: 2 blocks, 4 heads, d = 256, 8 rows of 200 events; a step is
    forward, backward and AdamW, the calendar of the inputs included. Each encoding takes turns with RoPE
    alone, in both orders. What is no rotation the network does not take: it is counted and not timed.

    Args:
        encodings: By name, biases, inputs and intervals too; all there are by default.
        rounds: Pairs of measured rounds, one in each order.
        threads: Of PyTorch; by default those it has.
        timed: Time them, and not only count.
        on_progress: Told what is timed, the rounds done and all rounds.

    Raises:
        InputError: Fewer than two rounds, no threads, or a recipe of another kind.
    """
    if rounds < 2 or (threads is not None and threads < 1):
        raise InputError(
            f"{rounds} rounds on {threads} threads: expected at least two rounds, and one thread"
        )
    chosen = everything_counted() if encodings is None else dict(encodings)
    rows = [EncodingRow(name, recipe, _counted(recipe)) for name, recipe in chosen.items()]
    before = torch.get_num_threads()
    torch.set_num_threads(threads or before)
    try:
        found = circumstances()
        if timed:
            rows = [_timed(row, rounds, on_progress) for row in rows]
        return EncodingBench(rows, found)
    finally:
        torch.set_num_threads(before)


def _counted(recipe: Recipe) -> EncodingCost:
    return count_encoding(recipe) if isinstance(recipe, Encoding) else count_addition(recipe)


def _timed(row: EncodingRow, rounds: int, on_progress: Callable[[str, int, int], None] | None) -> EncodingRow:
    if not isinstance(row.encoding, Encoding):
        return row
    all_rounds = _WARM + 2 * rounds

    def tell(done: int) -> None:
        if on_progress is not None:
            on_progress(row.name, done, all_rounds)

    tell(0)
    name = _AGAIN if row.name == ROPE else row.name
    contenders = {ROPE: TrainingStep(RoPE()), name: TrainingStep(row.encoding)}
    beside, timing = measure(contenders, rounds=2 * rounds, warm=_WARM, on_round=tell)
    return EncodingRow(row.name, row.encoding, row.cost, timing, beside)


class TrainingStep:
    """A step of training a small network: forward, backward, AdamW.

    Attributes:
        network: What is trained.
    """

    def __init__(self, encoding: Encoding) -> None:
        model = Transformer(
            encoding, embedding_dim=WIDTH, num_layers=LAYERS, num_heads=HEADS, max_len=LENGTH, dropout=0.0
        )
        self.network = model.build(num_items=_ITEMS, unit="s", time_access=TimeAccess.REQUEST, seed=0)
        self._optimizer = torch.optim.AdamW(self.network.parameters(), lr=1e-3)
        generator = torch.Generator().manual_seed(0)
        items = torch.randint(_ITEMS, (BATCH, LENGTH), generator=generator)
        gaps = torch.randint(30, 90_000, (BATCH, LENGTH + 1), generator=generator)
        time = 1_600_000_000 + gaps.cumsum(1)
        self._batch = Batch(items, time[:, :-1], time[:, 1:], torch.full((BATCH,), LENGTH))
        self._weight = torch.randn(BATCH, LENGTH, WIDTH, generator=generator)

    def __call__(self) -> None:
        self._optimizer.zero_grad()
        self.network(self._batch).features.backward(self._weight)
        self._optimizer.step()


def paired_ratio(timing: Timing, beside: Timing) -> tuple[float, float, float]:
    """Median ratio of two contenders that took turns, over pairs of rounds, and its 95 % bootstrap interval.

    A pair of neighbouring rounds has both orders, so that what comes second in a round is not at an
    advantage.

    Raises:
        InputError: Rounds do not match, or are odd in number.
    """
    if len(timing.seconds) != len(beside.seconds) or len(timing.seconds) % 2 or not timing.seconds:
        raise InputError(
            f"{len(timing.seconds)} and {len(beside.seconds)} rounds: expected the same even number of both"
        )
    mine, other = (np.reshape(times.seconds, (-1, 2)).sum(1) for times in (timing, beside))
    ratios = mine / other
    drawn = np.random.default_rng(0).integers(0, len(ratios), (_RESAMPLES, len(ratios)))
    low, high = np.quantile(np.median(ratios[drawn], axis=1), (0.025, 0.975))
    return float(np.median(ratios)), float(low), float(high)
