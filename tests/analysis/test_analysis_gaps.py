from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from rota.analysis import AttentionByGap, attention_by_gap, pool_curves
from rota.batch import Batch
from rota.errors import InputError

HOUR = 3600


@dataclass
class Fixed:
    """Shows the attention that a function makes of a batch."""

    make: Callable[[Batch], list[Tensor]]

    def attention(self, batch: Batch) -> list[Tensor]:
        return self.make(batch)


def uniform(batch: Batch) -> list[Tensor]:
    rows, length = batch.items.shape
    ones = torch.ones(rows, 1, length, length, dtype=torch.float64).tril()
    return [ones / ones.sum(-1, keepdim=True)]


def random_attention(seed: int, layers: int = 2, heads: int = 3) -> Callable[[Batch], list[Tensor]]:
    def make(batch: Batch) -> list[Tensor]:
        rows, length = batch.items.shape
        generator = torch.Generator().manual_seed(seed)
        future = torch.ones(length, length).triu(1).bool()
        logits = torch.randn(layers, rows, heads, length, length, generator=generator, dtype=torch.float64)
        return list((2 * logits).masked_fill(future, -torch.inf).softmax(-1))

    return make


def batch_of(key_time: list[list[int]], query_time: list[list[int]], lengths: list[int]) -> Batch:
    keys, queries = torch.tensor(key_time), torch.tensor(query_time)
    return Batch(torch.zeros_like(keys), keys, queries, torch.tensor(lengths))


def random_batch(seed: int, rows: int = 4, length: int = 12, ticks: int = 1) -> Batch:
    rng = np.random.default_rng(seed)
    start = 1_700_000_000 * ticks
    steps = rng.integers(0, 20 * HOUR * ticks, (rows, length + 1))
    times = start + np.cumsum(steps, axis=1)
    lengths = rng.integers(1, length + 1, rows)
    return batch_of(times[:, :-1].tolist(), times[:, 1:].tolist(), lengths.tolist())


def slow(reader: Fixed, batches: list[Batch], ticks: int, hours: int, per_hour: int) -> AttentionByGap:
    """Every pair on its own; the bin is the nearest centre, by distance."""
    centres = [step / per_hour for step in range(hours * per_hour + 1)]
    found: list[list[float]] = [[] for _ in centres]
    for batch in batches:
        layers = reader.attention(batch)
        for row, length in enumerate(batch.lengths.tolist()):
            for query in range(length):
                for key in range(query + 1):
                    gap = int(batch.query_time[row, query]) - int(batch.key_time[row, key])
                    distance = [abs(gap / (HOUR * ticks) - centre) for centre in centres]
                    nearest = int(np.argmin(distance))
                    if gap < 0 or distance[nearest] > 0.5 / per_hour:
                        continue
                    seen = [
                        float(layer[row, head, query, key])
                        for layer in layers
                        for head in range(layer.shape[1])
                    ]
                    found[nearest].append(np.mean(seen) * (query + 1))
    edges = np.array([centre - 0.5 / per_hour for centre in [*centres, hours + 1 / per_hour]])
    mean = np.array([np.mean(values) if values else np.nan for values in found])
    return AttentionByGap(edges, mean, np.array([len(values) for values in found]))


@pytest.mark.parametrize(("unit", "ticks"), [("s", 1), ("ms", 10**3), ("ns", 10**9)])
@pytest.mark.parametrize("per_hour", [1, 2, 3])
def test_equals_the_triple_loop(unit: str, ticks: int, per_hour: int) -> None:
    batches = [random_batch(seed, ticks=ticks) for seed in range(2)]
    reader = Fixed(random_attention(7))
    fast = attention_by_gap(reader, batches, unit=unit, hours=48.0, bins_per_hour=per_hour)
    reference = slow(reader, batches, ticks, 48, per_hour)
    np.testing.assert_array_equal(fast.pairs, reference.pairs)
    np.testing.assert_allclose(fast.relative, reference.relative, rtol=1e-12)
    np.testing.assert_allclose(fast.edges_hours, reference.edges_hours, atol=1e-12)
    assert fast.pairs.sum() > 50
    assert fast.pairs.dtype == np.int64
    assert fast.relative.dtype == np.float64


@given(st.integers(0, 2**31))
def test_uniform_attention_is_one_in_every_bin_that_holds_a_pair(seed: int) -> None:
    curve = attention_by_gap(Fixed(uniform), [random_batch(seed)], unit="s")
    filled = curve.pairs > 0
    np.testing.assert_allclose(curve.relative[filled], 1.0, rtol=1e-12)
    assert np.isnan(curve.relative[~filled]).all()
    assert filled.any()


@pytest.mark.parametrize(
    ("gap", "centre"),
    [
        (0, 0.0), (899, 0.0), (900, 0.5), (24 * HOUR, 24.0), (24 * HOUR - 900, 24.0), (24 * HOUR - 901, 23.5),
        (24 * HOUR + 899, 24.0), (24 * HOUR + 900, 24.5), (168 * HOUR + 899, 168.0),
        (168 * HOUR + 900, None), (-1, None), (2**61, None),
    ],
)  # fmt: skip
def test_bins_are_centred_exactly(gap: int, centre: float | None) -> None:
    curve = attention_by_gap(Fixed(uniform), [batch_of([[10**9]], [[10**9 + gap]], [1])], unit="s")
    assert curve.centres_hours[curve.pairs > 0].tolist() == ([] if centre is None else [centre])


def test_padding_and_future_do_not_count() -> None:
    batch = batch_of([[0, HOUR, HOUR]], [[HOUR, 3 * HOUR, 3 * HOUR]], [2])
    curve = attention_by_gap(Fixed(uniform), [batch], unit="s", hours=4.0, bins_per_hour=1)
    assert curve.pairs.tolist() == [0, 1, 1, 1, 0]  # 1-0, 3-1, 3-0 hours


def test_low_precision_and_gradients_are_accepted() -> None:
    def make(batch: Batch) -> list[Tensor]:
        return [layer.to(torch.bfloat16).requires_grad_() for layer in random_attention(0)(batch)]

    batch = random_batch(0)
    rough, exact = (
        attention_by_gap(Fixed(reader), [batch], unit="s", hours=24.0, bins_per_hour=1)
        for reader in (make, random_attention(0))
    )
    np.testing.assert_allclose(rough.relative, exact.relative, rtol=0.01)


def test_a_batch_without_times_is_refused() -> None:
    batch = replace(random_batch(0), key_time=None, query_time=None)
    with pytest.raises(InputError, match="the batch has no times; use time access"):
        attention_by_gap(Fixed(uniform), [batch], unit="s")


@pytest.mark.parametrize("scale", [0.9, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(scale: float) -> None:
    reader = Fixed(lambda batch: [scale * layer for layer in uniform(batch)])
    with pytest.raises(InputError, match=r"attention of Fixed sums to .* expected softmax probabilities"):
        attention_by_gap(reader, [random_batch(0)], unit="s")


def test_attention_to_the_future_is_refused() -> None:
    def leak(batch: Batch) -> list[Tensor]:
        rows, length = batch.items.shape
        return [torch.full((rows, 1, length, length), 1 / length)]

    with pytest.raises(InputError, match="mask future and padding"):
        attention_by_gap(Fixed(leak), [random_batch(0)], unit="s")


@pytest.mark.parametrize(("hours", "per_hour"), [(0.0, 2), (-1.0, 2), (0.3, 2), (float("inf"), 2), (24.0, 0)])
def test_impossible_bins_are_refused(hours: float, per_hour: int) -> None:
    with pytest.raises(InputError, match="expected a whole number of bins"):
        attention_by_gap(Fixed(uniform), [], unit="s", hours=hours, bins_per_hour=per_hour)


def test_pooling_curves_is_counting_their_batches_together() -> None:
    batches = [random_batch(seed) for seed in range(3)]
    reader = Fixed(random_attention(3))
    together = attention_by_gap(reader, batches, unit="s")
    pooled = pool_curves([attention_by_gap(reader, [batch], unit="s") for batch in batches])
    np.testing.assert_array_equal(pooled.pairs, together.pairs)
    np.testing.assert_allclose(pooled.relative, together.relative, rtol=1e-12)
