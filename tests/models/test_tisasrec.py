"""TiSASRec against its published equations, pair by pair, without the faults of its public codes."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from models_tried import (
    NOW,
    Weights,
    feed_forward,
    heads_of,
    mapped,
    norm,
    same_both_ways,
    scaled_items,
    softmax_mix,
    some,
    spread_out,
)
from torch import Tensor

from rota.attention import Intervals
from rota.batch import TimeAccess, Window, collate
from rota.encodings import ClockRoPE, RoPE
from rota.errors import InputError
from rota.models import RepeatHead, TiSASRec, TiSASRecNetwork

ITEMS = 9


def built(recipe: TiSASRec, access: str = "history") -> TiSASRecNetwork:
    network = recipe.build(num_items=ITEMS, unit="s", time_access=TimeAccess.parse(access), seed=0)
    assert isinstance(network, TiSASRecNetwork)
    return network


def small(heads: int = 2, num_intervals: int = 6) -> TiSASRec:
    return TiSASRec(
        embedding_dim=8, num_layers=2, num_heads=heads, max_len=7, intervals=Intervals(num_intervals)
    )


@pytest.mark.parametrize("heads", [1, 2])  # the published code runs with one alone
@pytest.mark.parametrize("access", ["history", "request"])
def test_against_the_equations_forward_and_backward(access: str, heads: int) -> None:
    dim, recipe = 8, small(heads, num_intervals=40)
    network, batch = spread_out(built(recipe, access)), some(access, items=ITEMS)
    assert batch.query_time is not None
    assert batch.key_time is not None

    def interval(asked: list[int], seen: list[int], i: int, j: int) -> int:
        gaps = [late - early for early, late in pairwise(seen[: i + 1]) if late != early]
        return min(abs(asked[i] - seen[j]) // min(gaps), 40) if gaps else 0

    def slowly(weights: Weights, row: int) -> Tensor:
        length = int(batch.lengths[row])
        asked, seen = batch.query_time[row].tolist(), batch.key_time[row].tolist()
        xs = scaled_items(weights, batch.items[row, :length].tolist())
        for layer in range(2):
            block = f"blocks.{layer}"
            asking = [norm(x, weights, f"{block}.norm", 1e-8) for x in xs]
            out = []
            for i in range(length):
                q = mapped(asking[i], weights, f"{block}.attention.query")
                keys, values = [], []
                for j in range(i + 1):
                    r = interval(asked, seen, i, j)
                    for into, name in ((keys, "key"), (values, "value")):
                        own = mapped(xs[j], weights, f"{block}.attention.{name}")
                        place, gap = (weights[f"tables.{of}_{name}s"] for of in ("position", "interval"))
                        into.append(heads_of(own + place[j] + gap[r], heads))
                mixed = [
                    softmax_mix(
                        [(part * key[head]).sum() / math.sqrt(dim // heads) for key in keys],
                        [value[head] for value in values],
                    )
                    for head, part in enumerate(heads_of(q, heads))
                ]
                out.append(feed_forward(asking[i] + torch.cat(mixed), weights, block))
            xs = out
        return torch.stack([norm(x, weights, "norm", 1e-8) for x in xs])

    same_both_ways(network, batch, slowly)


def test_a_closer_pair_to_come_does_not_rescale_the_past() -> None:
    """The published code's smallest gap is that of the full history, validation and test included."""
    network = spread_out(built(small()))
    times = NOW + np.array([0, 600, 1500, 4000, 4001])
    items = np.arange(5)
    whole = Window(items, times, times)
    cut = Window(items[:4], times[:4], times[:4])
    one, two = (network(collate([w], "history")).features[0, :4] for w in (whole, cut))
    torch.testing.assert_close(one, two, rtol=0, atol=1e-12)
    slower = Window(items, NOW + np.array([0, 600, 1500, 4000, 9000]), times)
    assert torch.equal(network(collate([slower], "history")).features[0, :4], one)


def test_units_of_a_users_own_smallest_gap() -> None:
    """A user who does all three times as slowly looks the same; one whose pauses differ does not."""
    network, items = spread_out(built(small())), np.arange(4)
    clock = np.array([0, 600, 1500, 4000])
    one, three, other = (
        network.scores(collate([Window(items, NOW + t, NOW + t)], "history"))
        for t in (clock, 3 * clock, np.array([0, 600, 3000, 4000]))
    )
    assert torch.equal(one, three)
    assert not torch.allclose(one, other)


def test_with_request_access_now_counts() -> None:
    items, times = np.arange(4), NOW + np.array([0, 600, 1500, 4000])
    soon, late = (Window(items, times, np.append(times[1:], times[-1] + gap)) for gap in (700, 2500))
    for access, same in (("history", True), ("request", False)):
        network = spread_out(built(small(), access))
        scores = [network.scores(collate([row], access)) for row in (soon, late)]
        assert torch.equal(*scores) == same


def test_layers_share_the_vectors_and_nothing_is_added_to_the_input() -> None:
    network = built(TiSASRec())
    assert network.events.positions is None
    assert [name for name, _ in network.named_parameters() if "_keys" in name or "_values" in name] == [
        f"tables.{name}" for name in ("interval_keys", "interval_values", "position_keys", "position_values")
    ]
    assert network.tables.interval_keys.shape == (257, 64)
    assert network.tables.position_keys.shape == (100, 64)
    assert network.tables.dropout.p == network.blocks[0].attention.dropout == 0.2


def test_more_events_than_positions_are_refused() -> None:
    with pytest.raises(InputError, match="8 events in a row: the tables were built with max_len 7"):
        built(small())(some("history", (8,), ITEMS))


def test_it_takes_no_rotation_but_its_repeat_head_does() -> None:
    says = r"encoding RoPE of TiSASRec: expected NoEncoding\(\), for its attention works by intervals"
    with pytest.raises(InputError, match=says) as caught:
        TiSASRec(RoPE())
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=says):
        TiSASRec().with_encoding(RoPE())
    headed = built(replace(small(), repeat_head=RepeatHead(ClockRoPE())))
    assert headed.repeat_head is not None
    assert headed.repeat_head.rotation.needs_clock


def test_without_a_clock_it_is_refused() -> None:
    with pytest.raises(InputError, match="TiSASRec works by time, which time access none withholds"):
        built(TiSASRec(), "none")
