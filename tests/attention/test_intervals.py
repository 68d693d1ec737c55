"""Interval attention against naive loops over pairs, forward and backward, and what it allocates."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from rota.attention import (
    IntervalAttention,
    Intervals,
    IntervalTables,
    relative_intervals,
    smallest_gaps,
)
from rota.batch import Window, collate
from rota.errors import InputError
from rota.tables import from_table, to_table

DIM, HEADS, NOW = 8, 2, 1_700_000_000


class Layer(nn.Module):
    """Attention with tables of its own."""

    def __init__(self, attention: IntervalAttention, tables: IntervalTables) -> None:
        super().__init__()
        self.attention, self.tables = attention, tables

    def forward(self, queries: Tensor, events: Tensor, *clock: Tensor | None) -> Tensor:
        return self.attention(queries, events, self.tables(events.shape[1]), *clock)

    def probabilities(self, queries: Tensor, events: Tensor, *clock: Tensor) -> Tensor:
        return self.attention.probabilities(queries, events, self.tables(events.shape[1]), *clock)


def made(
    *, max_len: int = 12, num_intervals: int = 6, block: int = 128, dim: int = DIM, heads: int = HEADS
) -> Layer:
    torch.manual_seed(0)
    tables = IntervalTables(dim, max_len=max_len, num_intervals=num_intervals)
    with torch.no_grad():  # as large as keys and values, so that a mistake shows
        for table in tables.parameters():
            table.normal_()
    return Layer(IntervalAttention(dim, heads, block=block), tables)


def inputs(length: int = 9, rows: int = 3) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    queries, events = torch.randn(2, rows, length, DIM, generator=generator, dtype=torch.float64)
    key_time = NOW + torch.randint(0, 4000, (rows, length), generator=generator).sort(-1).values
    key_time[0, 2] = key_time[0, 1]  # a tie
    query_time = torch.cat((key_time[:, 1:], key_time[:, -1:] + 700), 1)
    return queries, events, query_time, key_time


def naive(layer: Layer, queries: Tensor, events: Tensor, asked: Tensor, seen: Tensor) -> Tensor:
    """The equations: for each pair a key ``k_j + p^K_j + r^K_ij`` and a value ``v_j + p^V_j + r^V_ij``."""
    attention, tables = layer.attention, layer.tables
    width, out = queries.shape[-1] // attention.num_heads, []
    q, k, v = attention.query(queries), attention.key(events), attention.value(events)
    for row in range(len(queries)):
        for i in range(queries.shape[1]):
            gaps = [int(seen[row, j + 1] - seen[row, j]) for j in range(i)]
            scale = min([gap for gap in gaps if gap > 0], default=None)
            keys, values = [], []
            for j in range(i + 1):
                gap = abs(int(asked[row, i]) - int(seen[row, j]))
                interval = 0 if scale is None else min(gap // scale, tables.num_intervals)
                keys.append(k[row, j] + tables.position_keys[j] + tables.interval_keys[interval])
                values.append(v[row, j] + tables.position_values[j] + tables.interval_values[interval])
            heads = []
            for head in range(attention.num_heads):
                part = slice(head * width, (head + 1) * width)
                logits = torch.stack([q[row, i, part] @ key[part] for key in keys]) / math.sqrt(width)
                weights = logits.softmax(0)
                heads.append(sum(w * value[part] for w, value in zip(weights, values, strict=True)))
            out.append(torch.cat(heads))
    return torch.stack(out).view_as(queries)


@pytest.mark.parametrize("block", [128, 9, 4, 1])
def test_against_loops_forward_and_backward(block: int) -> None:
    layer = made(block=block).double()
    queries, events, asked, seen = inputs()
    found = []
    for compute in (layer.forward, lambda *given: naive(layer, *given)):
        x, y = queries.clone().requires_grad_(), events.clone().requires_grad_()
        layer.zero_grad()
        out = compute(x, y, asked, seen)
        (out * torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)).sum().backward()
        gradients = {name: p.grad.clone() for name, p in layer.named_parameters()}
        found.append({"out": out.detach(), "queries": x.grad, "events": y.grad, **gradients})
    assert len(found[0]) == 3 + 10
    for name, slow in found[1].items():
        torch.testing.assert_close(found[0][name], slow, rtol=0, atol=1e-12)
        assert float(slow.abs().max()) > 1e-3 or name == "attention.key.bias"  # softmax does not see it


def test_probabilities_are_those_that_mix_the_values() -> None:
    layer, given = made().double(), inputs()
    probability = layer.probabilities(*given)
    torch.testing.assert_close(probability.sum(-1), torch.ones_like(probability[..., 0]))
    assert (probability.triu(1) == 0).all()
    with torch.no_grad():  # values that are all the same are mixed to the same
        layer.attention.value.weight.zero_()
        for table in (layer.tables.interval_values, layer.tables.position_values):
            table.zero_()
        layer.tables.interval_values[2, 0] = 1.0
    mass = layer(*given)[..., 0] - layer.attention.value.bias[0]
    interval = relative_intervals(given[2], given[3], smallest_gaps(given[3]), 6)
    torch.testing.assert_close(mass, (probability[:, 0] * (interval == 2)).sum(-1))


def test_intervals_by_hand() -> None:
    seen = torch.tensor([[0, 0, 10, 13, 13, 40], [5, 5, 5, 5, 5, 5]])
    unknown = 2**63 - 1
    assert smallest_gaps(seen).tolist() == [[unknown, unknown, 10, 3, 3, 3], [unknown] * 6]
    interval = relative_intervals(seen, seen, smallest_gaps(seen), 5)
    assert interval[0].tolist() == [
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 3],
        [4, 4, 1, 0, 0, 5],
        [4, 4, 1, 0, 0, 5],
        [5, 5, 5, 5, 5, 0],
    ]
    assert not interval[1].any()
    backwards = torch.tensor([[100, 40, 60]])  # a wall clock steps back when summer time ends
    assert smallest_gaps(backwards).tolist() == [[unknown, 60, 20]]


def test_at_most_one_off_the_published_rounding() -> None:
    seen = inputs(30)[3]
    scale = smallest_gaps(seen)[:, -1:].expand(-1, 30)
    ours = relative_intervals(seen, seen, scale, 256)
    place = np.round((seen - seen[:, :1]).numpy() / scale.numpy()) + 1
    published = np.minimum(np.abs(place[:, :, None] - place[:, None, :]), 256)
    off = np.abs(ours.numpy() - published)
    assert off.max() == 1
    assert (off == 0).mean() > 0.5


def test_shifts_and_units_change_no_bit() -> None:
    layer, (queries, events, asked, seen) = made().double(), inputs()
    before = layer(queries, events, asked, seen)
    for shift in (10**9, -(10**9)):
        assert torch.equal(layer(queries, events, asked + shift, seen + shift), before)
    assert torch.equal(layer(queries, events, asked * 10**9, seen * 10**9), before)
    assert not torch.equal(layer(queries, events, asked + 2000, seen), before)


def test_what_comes_later_changes_nothing_before() -> None:
    """The scale of a user, too, is of the events up to the query: a later small gap does not reach back."""
    layer, (queries, events, asked, seen) = made(block=4).double(), inputs()
    before = layer(queries, events, asked, seen)
    changed = [queries.clone(), events.clone(), asked.clone(), seen.clone()]
    changed[0][:, 6:] += 1
    changed[1][:, 6:] -= 1
    changed[2][:, 6:] = changed[3][:, 6:] = seen[:, 5:6] + torch.tensor([1, 2, 3])
    after = layer(*changed)
    torch.testing.assert_close(after[:, :6], before[:, :6], rtol=0, atol=1e-14)
    assert (after[:, 6:] != before[:, 6:]).any(-1).all()


@pytest.mark.parametrize("access", ["history", "request"])
def test_a_jagged_batch_against_its_rows_one_by_one(access: str) -> None:
    layer = made().double()
    rows = [[0, 10, 500], [70], [3, 3, 90_000, 10**7, 2 * 10**7]]
    windows = [
        Window(np.arange(len(row)), NOW + np.array(row), NOW + np.array([*row[1:], row[-1] + 5]))
        for row in rows
    ]
    batch, x = collate(windows, access), inputs(5)[0]
    for mask in (None, batch.mask):
        together = layer(x, x, batch.query_time, batch.key_time, mask)
        assert together.isfinite().all()
        for at, window in enumerate(windows):
            own, length = collate([window], access), len(window.items)
            part = x[at : at + 1, :length]
            alone = layer(part, part, own.query_time, own.key_time)
            torch.testing.assert_close(together[at : at + 1, :length], alone, rtol=0, atol=1e-12)


def test_masked_padding_on_the_left_is_not_seen() -> None:
    layer, (queries, events, asked, seen) = made().double(), inputs()
    mask = torch.ones(3, 9, dtype=torch.bool)
    mask[1, :4] = False
    asked[1, :4] = seen[1, :4] = seen[1, 4]  # padding repeats the first time
    before = layer(queries, events, asked, seen, mask)
    assert before.isfinite().all()
    probability = layer.probabilities(queries, events, asked, seen, mask)
    assert not probability[1, :, 4:, :4].any()
    assert (probability[1, :, range(4), range(4)] == 1).all()
    events[1, :4] += 5
    assert torch.equal(layer(queries, events, asked, seen, mask)[1, 4:], before[1, 4:])


class Largest(TorchDispatchMode):
    """Records the largest tensor that any operation returns, backward's included."""

    numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        out = func(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else (out,):
            if isinstance(tensor, Tensor):
                self.numel = max(self.numel, tensor.untyped_storage().nbytes() // tensor.element_size())
        return out


def peak(length: int, num_intervals: int, dim: int = 64) -> tuple[int, int]:
    """Largest tensor of a forward and backward pass, and how much the pass keeps for backward."""
    layer = made(max_len=length, num_intervals=num_intervals, dim=dim, heads=1, block=64)
    x = torch.randn(1, length, dim).requires_grad_()
    time = NOW + torch.arange(length).expand(1, -1) ** 2
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // 4
        return tensor

    with Largest() as largest:
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            out = layer(x, x, time, time)
        out.sum().backward()
    return largest.numel, sum(kept.values())


def test_no_tensor_of_pairs_times_width_and_memory_linear_in_length() -> None:
    """At length 512 the published code forms 512 x 512 x 64 numbers; here 64 x 512 is most."""
    largest, kept = peak(512, 256)
    assert largest == 64 * 512  # queries of a block x events; not even 512 x 512
    assert largest * 8 * 64 == 512 * 512 * 64
    assert peak(512, 1000)[0] == 64 * 1001  # queries of a block x intervals
    longer, kept_longer = peak(1024, 256)
    assert longer == 2 * largest
    assert kept_longer < 2.2 * kept


def test_dropout_falls_on_weights_and_vectors_in_training_alone() -> None:
    torch.manual_seed(0)
    tables = IntervalTables(DIM, max_len=9, num_intervals=6, dropout=0.5)
    layer = Layer(IntervalAttention(DIM, HEADS, dropout=0.5, block=4), tables).double()
    given = inputs()
    assert not torch.equal(layer(*given), layer(*given))
    layer.eval()
    assert torch.equal(layer(*given), layer(*given))
    layer.train()
    torch.manual_seed(1)  # what backward computes again drops the same
    x = given[0].clone().requires_grad_()
    out = layer(x, *given[1:])
    out.sum().backward()
    step = torch.zeros_like(x)
    step[0, 8, 3] = 1e-6
    torch.manual_seed(1)
    moved = layer(given[0] + step, *given[1:])
    assert float((moved - out).detach().sum() / 1e-6) == pytest.approx(float(x.grad[0, 8, 3]), abs=1e-5)


@pytest.mark.parametrize("how", ["cast", "autocast"])
def test_bfloat16_keeps_intervals_and_sums_over_them(how: str) -> None:
    layer = made(max_len=600, num_intervals=2).eval()
    length = 600
    x = torch.randn(1, length, DIM, generator=torch.Generator().manual_seed(1))
    time = torch.full((1, length), NOW)  # one interval takes the attention of all pairs
    exact = layer(x, x, time, time)
    if how == "cast":
        rounded = layer.bfloat16()(x.bfloat16(), x.bfloat16(), time, time)
        assert rounded.dtype == torch.bfloat16
        narrow = x.bfloat16()  # CUDA sums in the type that it is given
        assert layer.probabilities(narrow, narrow, time, time).dtype == torch.float32
    else:
        with torch.autocast("cpu", torch.bfloat16):
            rounded = layer(x, x, time, time)
    torch.testing.assert_close(rounded.float(), exact, rtol=0, atol=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("block", [128, 4])
def test_compiled_equals_eager(block: int, unchecked_shapes: None) -> None:
    layer, given = made(block=block).double(), inputs()
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*given), layer(*given), rtol=0, atol=1e-12)


def test_layers_share_tables_that_a_checkpoint_holds_once() -> None:
    tables = IntervalTables(DIM, max_len=9, num_intervals=6)
    layers = nn.ModuleList(IntervalAttention(DIM, HEADS) for _ in range(2))
    model = nn.ModuleDict({"tables": tables, "layers": layers})
    assert sum("interval" in name or "position" in name for name in model.state_dict()) == 4
    queries, events, asked, seen = (x.float() if x.is_floating_point() else x for x in inputs())
    for layer in layers:
        queries = layer(queries, events, tables(9), asked, seen)
    queries.sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    assert float(tables.interval_keys.detach().std()) == pytest.approx(0.02, rel=0.3)


def test_what_does_not_fit_is_refused() -> None:
    tables, attention = IntervalTables(DIM, max_len=4, num_intervals=3), IntervalAttention(DIM, 2).double()
    with pytest.raises(InputError, match="embedding_dim 8: expected a multiple of num_heads 3"):
        IntervalAttention(DIM, 3)
    with pytest.raises(InputError, match="num_heads 0: expected a whole number of at least 1"):
        IntervalAttention(DIM, 0)
    with pytest.raises(InputError, match="block 0"):
        IntervalAttention(DIM, 2, block=0)
    with pytest.raises(InputError, match="num_intervals 0: expected a whole number of at least 1"):
        IntervalTables(DIM, max_len=4, num_intervals=0)
    with pytest.raises(InputError, match="max_len 0"):
        IntervalTables(DIM, max_len=0)
    with pytest.raises(InputError, match="9 events in a row: the tables were built with max_len 4"):
        tables(9)
    queries, events, asked, seen = inputs()
    for wrong in (tables(4), IntervalTables(16, max_len=9)(9)):
        with pytest.raises(InputError, match=r"expected \(length, embedding_dim\); ask the tables for"):
            attention(queries, events, wrong, asked, seen)
    fitting = IntervalTables(DIM, max_len=9)(9)
    with pytest.raises(InputError, match="interval attention needs the time of each query"):
        attention(queries, events, fitting, None, seen)
    with pytest.raises(InputError, match="interval attention needs the time of each key"):
        attention(queries, events, fitting, asked, None)


def test_times_of_another_length_are_refused(unchecked_shapes: None) -> None:
    attention, fitting = IntervalAttention(DIM, 2).double(), IntervalTables(DIM, max_len=9)(9)
    queries, events, asked, seen = inputs()
    with pytest.raises(InputError, match=r"query time of shape .* pass one time for each event"):
        attention(queries, events, fitting, asked[:, :-1], seen)
    with pytest.raises(InputError, match="key time of shape"):
        attention(queries, events, fitting, asked, seen[:, :-1])


def test_a_recipe_builds_both() -> None:
    recipe = from_table({"recipe": "attention.intervals", "num_intervals": 7, "block": 4}, Intervals)
    assert recipe == Intervals(num_intervals=7, block=4)
    assert from_table(to_table(recipe), Intervals) == recipe
    tables, attention = recipe.tables(DIM, max_len=9), recipe.build(DIM, HEADS)
    assert tables(9).interval_keys.shape == (8, DIM)
    assert (attention.num_heads, attention.block, attention.dropout) == (HEADS, 4, 0.0)
    dropping = Intervals(dropout=0.25)
    assert dropping.build(DIM, HEADS).dropout == dropping.tables(DIM, max_len=2).dropout.p == 0.25


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"num_intervals": 0}, "num_intervals 0 of Intervals: expected a whole number of at least 1"),
        ({"num_intervals": 2.5}, "num_intervals 2.5"),
        ({"block": 0}, "block 0 of Intervals"),
        ({"dropout": 1.0}, "dropout 1.0 of Intervals: expected a number from 0 to below 1"),
        ({"dropout": float("nan")}, "dropout nan"),
        ({"dropout": "much"}, "dropout 'much'"),
    ],
)
def test_a_recipe_that_builds_nothing_is_refused(
    wrong: dict[str, object], says: str, unchecked_shapes: None
) -> None:
    with pytest.raises(InputError, match=says):
        Intervals(**wrong)  # type: ignore[arg-type]
