"""SASRec against its published equations, one number at a time, and what is its own beside the contract."""

import math
from dataclasses import dataclass

import pytest
import torch
from models_tried import (
    Weights,
    angles_of,
    feed_forward,
    heads_of,
    mapped,
    norm,
    same_both_ways,
    scaled_items,
    softmax_mix,
    some,
    spread_out,
    turned,
)
from torch import Tensor, nn

from rota.batch import TimeAccess
from rota.encodings import Calendar, ClockRoPE, Encoding, NoEncoding, RoPE, Rotation, Split
from rota.errors import InputError
from rota.models import SASRec, SASRecNetwork

ITEMS = 9
PHASES = 3e-6  # they are float32


def built(recipe: SASRec, access: str = "request", num_items: int = ITEMS) -> SASRecNetwork:
    network = recipe.build(num_items=num_items, unit="s", time_access=TimeAccess.parse(access), seed=0)
    assert isinstance(network, SASRecNetwork)
    return network


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize(
    ("name", "encoding"),
    [("none", NoEncoding()), ("rope+clock", Split([RoPE(), ClockRoPE()]))],
    ids=["published", "rope+clock"],
)
def test_against_the_equations_forward_and_backward(name: str, encoding: Encoding, heads: int) -> None:
    dim, layers, width = 8 * heads, 2, 8
    network = spread_out(
        built(SASRec(encoding, embedding_dim=dim, num_layers=layers, num_heads=heads, max_len=7))
    )
    batch = some("request", items=ITEMS)
    assert batch.query_time is not None
    assert batch.key_time is not None

    def slowly(weights: Weights, row: int) -> Tensor:
        length = int(batch.lengths[row])
        asked, seen = batch.query_time[row].tolist(), batch.key_time[row].tolist()
        xs = scaled_items(weights, batch.items[row, :length].tolist())
        xs = [x + weights["events.positions.weight"][place] for place, x in enumerate(xs)]
        for layer in range(layers):
            block = f"blocks.{layer}"
            where = f"{block}.attention.rotation"
            asking = [norm(x, weights, f"{block}.norm", 1e-8) for x in xs]
            queries, keys, values = (
                [heads_of(mapped(x, weights, f"{block}.attention.{part}"), heads) for x in inputs]
                for part, inputs in (("query", asking), ("key", xs), ("value", xs))
            )
            out = []
            for i in range(length):
                mixed = []
                for head in range(heads):
                    q = turned(queries[i][head], angles_of(name, weights, where, "query", head, i, asked[i]))
                    logits = []
                    for j in range(i + 1):
                        k = turned(keys[j][head], angles_of(name, weights, where, "key", head, j, seen[j]))
                        logits.append((q * k).sum() / math.sqrt(width))
                    mixed.append(softmax_mix(logits, [values[j][head] for j in range(i + 1)]))
                out.append(feed_forward(asking[i] + torch.cat(mixed), weights, block))
            xs = out
        return torch.stack([norm(x, weights, "norm", 1e-8) for x in xs])

    same_both_ways(network, batch, slowly, 1e-10 if name == "none" else PHASES)


def test_logits_are_products_with_items_that_are_not_scaled() -> None:
    network, batch = built(SASRec(embedding_dim=8, max_len=7)).eval(), some("request", items=ITEMS)
    features = network(batch).features
    last = [features[row, length - 1] for row, length in enumerate((5, 1, 7))]
    expected = [[float((x @ e).detach()) for e in network.events.items.weight] for x in last]
    torch.testing.assert_close(network.scores(batch), torch.tensor(expected))


def test_the_start_is_as_documented() -> None:
    network = built(SASRec(inputs=(Calendar(),)), num_items=800)
    tables = [network.events.positions, *(part for part in network.events.features[0].children())]
    scaled = [network.events.items.weight * 8, *(table.weight for table in tables)]
    for table in scaled:
        assert float(table.detach().std()) == pytest.approx(0.16, rel=5 / math.sqrt(2 * table.numel()))
    for name, value in network.blocks.named_parameters():
        if name.endswith("bias"):
            assert (value == 0).all(), name
        elif value.ndim == 2:  # Glorot: uniform up to sqrt(6 / (64 + 64))
            assert 0.2 < float(value.detach().abs().max()) <= math.sqrt(6 / 128), name


class Learner(Rotation):
    """A rotation with a map, which starts in its own way."""

    def __init__(self) -> None:
        super().__init__()
        self.map = nn.Linear(3, 3)
        nn.init.ones_(self.map.weight)

    def turn_query(self, q: Tensor, **clock: Tensor | None) -> Tensor:
        return q

    def turn_key(self, k: Tensor, **clock: Tensor | None) -> Tensor:
        return k


@dataclass(frozen=True)
class Learnt(Encoding):
    """Its recipe."""

    needs_clock = False

    def rotation(self, site: object) -> Learner:
        return Learner()


def test_a_rotation_that_learns_keeps_its_own_start() -> None:
    network = built(SASRec(Learnt(), embedding_dim=16))
    assert (network.blocks[0].attention.rotation.map.weight == 1).all()


def test_positions_can_be_left_out() -> None:
    batch = some("none", (7,), ITEMS)
    bag = built(SASRec(embedding_dim=8, max_len=7, position_embedding=False, num_layers=1), "none").eval()
    assert bag.events.positions is None
    turned = torch.cat((batch.items[:, :-1].flip(1), batch.items[:, -1:]), 1)
    other = type(batch)(turned, None, None, batch.lengths)
    torch.testing.assert_close(bag.scores(batch), bag.scores(other))
    placed = built(SASRec(embedding_dim=8, max_len=7, num_layers=1), "none").eval()
    assert not torch.allclose(placed.scores(batch), placed.scores(other))


def test_more_events_than_positions_are_refused() -> None:
    with pytest.raises(InputError, match="7 events in a row: the network was built with max_len 6"):
        built(SASRec(embedding_dim=8, max_len=6))(some("request", (7,), ITEMS))


def test_a_switch_that_is_none_is_refused(unchecked_shapes: None) -> None:
    with pytest.raises(InputError, match="position_embedding 'no' of SASRec: expected True or False"):
        SASRec(position_embedding="no")  # type: ignore[arg-type]
