"""The transformer against its equations, and what is its own beside the contract of all models."""

import math

import pytest
import torch
from models_tried import (
    Weights,
    angles_of,
    heads_of,
    mapped,
    norm,
    same_both_ways,
    softmax_mix,
    some,
    spread_out,
    turned,
    window,
)
from torch import Tensor, nn

from rota.batch import TimeAccess, collate
from rota.encodings import ClockRoPE, Encoding, NoEncoding, RoPE, Split, TRoPE
from rota.errors import InputError
from rota.models import Transformer, TransformerNetwork

ITEMS = 30
PHASES = 3e-6  # they are float32
CLOCKS: dict[str, Encoding] = {
    "clock": ClockRoPE(),
    "rope+clock": Split([RoPE(), ClockRoPE()]),
    "trope": TRoPE(),
}
ENCODINGS: dict[str, Encoding] = {"none": NoEncoding(), "rope": RoPE(), **CLOCKS}


def built(encoding: Encoding, access: str = "request", **changed: object) -> TransformerNetwork:
    sizes: dict[str, object] = {"embedding_dim": 16, "num_layers": 2, "num_heads": 2, "max_len": 20}
    recipe = Transformer(encoding=encoding, **(sizes | changed))  # type: ignore[arg-type]
    network = recipe.build(num_items=ITEMS, unit="s", time_access=TimeAccess.parse(access), seed=0)
    assert isinstance(network, TransformerNetwork)
    return network


@pytest.mark.parametrize("name", ENCODINGS)
def test_against_the_equations_forward_and_backward(name: str) -> None:
    dim, heads = 16, 2
    network = spread_out(built(ENCODINGS[name], position_embedding=True, max_len=7))
    batch = some("request")
    assert batch.query_time is not None
    assert batch.key_time is not None

    def calendar(weights: Weights, whose: str, time: int) -> Tensor:
        hour, day = time // 3600 % 24, (time // 86_400 + 3) % 7
        table = f"events.features.0.{whose}"
        return weights[f"{table}_hour.weight"][hour] + weights[f"{table}_day.weight"][day]

    def slowly(weights: Weights, row: int) -> Tensor:
        length = int(batch.lengths[row])
        asked, seen = batch.query_time[row].tolist(), batch.key_time[row].tolist()
        xs = [
            weights["events.items.weight"][int(batch.items[row, place])]
            + weights["events.positions.weight"][place]
            + calendar(weights, "event", seen[place])
            + calendar(weights, "query", asked[place])
            for place in range(length)
        ]
        for layer in range(2):
            block = f"blocks.{layer}"
            where = f"{block}.attention.rotation"
            projected = [
                mapped(
                    norm(x, weights, f"{block}.attention_norm", 1e-5), weights, f"{block}.attention.project"
                )
                for x in xs
            ]
            queries, keys, values = (
                [heads_of(p[part * dim : (part + 1) * dim], heads) for p in projected] for part in range(3)
            )
            out = []
            for i, x in enumerate(xs):
                mixed = []
                for head in range(heads):
                    q = turned(queries[i][head], angles_of(name, weights, where, "query", head, i, asked[i]))
                    logits = []
                    for j in range(i + 1):
                        k = turned(keys[j][head], angles_of(name, weights, where, "key", head, j, seen[j]))
                        logits.append((q * k).sum() / math.sqrt(dim / heads))
                    mixed.append(softmax_mix(logits, [values[j][head] for j in range(i + 1)]))
                y = x + mapped(torch.cat(mixed), weights, f"{block}.attention.output")
                inner = mapped(norm(y, weights, f"{block}.feed_norm", 1e-5), weights, f"{block}.feed.0")
                inner = inner * (1 + torch.erf(inner / math.sqrt(2))) / 2
                out.append(y + mapped(inner, weights, f"{block}.feed.2"))
            xs = out
        return torch.stack([norm(x, weights, "norm", 1e-5) for x in xs])

    same_both_ways(network, batch, slowly, 1e-10 if name == "none" else PHASES)


def test_reported_attention_is_the_attention() -> None:
    network, batch = spread_out(built(CLOCKS["rope+clock"])), some("request")
    x = network.events(batch)
    for block, probability in zip(network.blocks, network.attention(batch), strict=True):
        value = block.attention.project(block.attention_norm(x))[..., 32:].unflatten(-1, (2, 8))
        attended = (probability @ value.transpose(1, 2)).transpose(1, 2).flatten(2)
        x = x + block.attention.output(attended)
        x = x + block.feed(block.feed_norm(x))
    torch.testing.assert_close(network.norm(x), network(batch).features)


def test_without_a_clock_there_are_no_features_of_time() -> None:
    assert len(built(RoPE(), "none").events.features) == 0
    assert len(built(RoPE(), "history").events.features) == 1
    assert len(built(RoPE(), "history", inputs=()).events.features) == 0


def test_positions_are_embedded_where_asked_for() -> None:
    assert built(NoEncoding()).events.positions is None
    with pytest.raises(InputError, match="21 events in a row: the network was built with max_len 20"):
        built(NoEncoding(), position_embedding=True)(some("request", (21,)))
    assert built(NoEncoding())(some("request", (21,))).features.shape == (1, 21, 16)


def test_each_layer_draws_for_itself() -> None:
    network = built(ClockRoPE())
    first, second = (block.attention.rotation.harmonics for block in network.blocks)
    assert not torch.equal(first, second)
    alone = ClockRoPE().build(head_dim=8, num_heads=2, layer=1, seed=0)
    assert torch.equal(second, alone.harmonics)


def test_tables_start_at_one_size() -> None:
    network = built(NoEncoding(), embedding_dim=64, max_len=100, position_embedding=True)
    tables = [module for module in network.modules() if isinstance(module, nn.Embedding)]
    assert len(tables) == 6  # items, positions, and hour and weekday of event and query
    for table in tables:
        size = float(table.weight.detach().std())
        assert size == pytest.approx(0.02, rel=5 / math.sqrt(2 * table.weight.numel()))


@pytest.mark.parametrize("name", CLOCKS)
def test_bfloat16_weights_keep_the_clock(name: str) -> None:
    """Rounding weights costs a little everywhere; rounding frequencies would cost the clock."""
    network = built(CLOCKS[name]).eval()
    batch = collate([window(6, 0)], TimeAccess.REQUEST)
    exact = network.attention(batch)[0].detach()
    rounded = network.bfloat16().attention(batch)[0].detach()
    assert rounded.dtype == torch.bfloat16
    torch.testing.assert_close(rounded.float(), exact, rtol=0, atol=0.02)


def test_heads_of_odd_width_are_refused() -> None:
    with pytest.raises(InputError, match="head_dim 3"):
        built(RoPE(), embedding_dim=6)
