"""The transformer: nothing looks ahead, padding changes nothing, and recipe and seed are all that it is."""

import math
import tomllib

import numpy as np
import pytest
import tomli_w
import torch
from torch import Tensor, nn

from rota.batch import Batch, TimeAccess, Window, collate
from rota.encodings import ClockRoPE, Encoding, NoEncoding, RoPE, Split, TRoPE
from rota.errors import InputError
from rota.models import Blueprint, Transformer, TransformerNetwork
from rota.models.base import Scorer
from rota.tables import from_table, to_table

ITEMS, NOW = 30, 1_700_000_000
CLOCKS: dict[str, Encoding] = {
    "clock": ClockRoPE(),
    "rope+clock": Split([RoPE(), ClockRoPE()]),
    "trope": TRoPE(),
}
ENCODINGS: dict[str, Encoding] = {"none": NoEncoding(), "rope": RoPE(), **CLOCKS}
ACCESS = [
    (name, access) for name in ENCODINGS for access in TimeAccess if access != "none" or name not in CLOCKS
]
EVERY = pytest.mark.parametrize(
    "network", [pytest.param(pair, id=f"{pair[0]}-{pair[1]}") for pair in ACCESS], indirect=True
)


def built(encoding: Encoding, access: TimeAccess, seed: int = 0, **changed: object) -> TransformerNetwork:
    recipe = Transformer(
        encoding=encoding, embedding_dim=16, num_layers=2, num_heads=2, max_len=20, **changed
    )  # type: ignore[arg-type]
    return recipe.build(num_items=ITEMS, unit="s", time_access=access, seed=seed)


@pytest.fixture
def network(request: pytest.FixtureRequest) -> TransformerNetwork:
    name, access = request.param
    return built(ENCODINGS[name], access).eval()


def window(length: int, seed: int) -> Window:
    rng = np.random.default_rng(seed)
    times = NOW + np.sort(rng.integers(0, 10**7, length + 1))
    return Window(rng.integers(0, ITEMS, length), times[:-1], times[1:])


def cut(batch: Batch, length: int) -> Batch:
    """The first events alone."""
    first = slice(None), slice(length)
    times = (None, None) if batch.key_time is None else (batch.key_time[first], batch.query_time[first])
    return Batch(batch.items[first], *times, batch.lengths.clamp(max=length))


@EVERY
def test_nothing_looks_ahead(network: TransformerNetwork) -> None:
    rows = [window(9, seed) for seed in range(3)]
    before = network(collate(rows, network.time_access))
    later = []
    for row in rows:
        items, times, asked = row.items.copy(), row.times.copy(), row.query_times.copy()
        items[6:] = (items[6:] + 1) % ITEMS
        times[6:] += 40_000
        asked[6:] += 90_000  # the query at 5 still asks at the old time of event 6
        later.append(Window(items, times, asked))
    after = network(collate(later, network.time_access))
    assert torch.equal(after[:, :6], before[:, :6])
    assert not torch.isclose(after[:, 6:], before[:, 6:]).all()
    whole = collate(rows, network.time_access)
    for length in (1, 4):
        torch.testing.assert_close(network(cut(whole, length)), before[:, :length], rtol=0, atol=1e-5)


def test_with_history_access_the_request_is_unknown() -> None:
    row = window(5, 0)
    other = Window(row.items, row.times, row.query_times + 12_345)
    for access, same in ((TimeAccess.HISTORY, True), (TimeAccess.REQUEST, False)):
        network = built(ClockRoPE(), access).eval()
        one, two = (network.scores(collate([w], access)) for w in (row, other))
        assert torch.equal(one, two) == same


@EVERY
def test_padding_and_batch_mates_change_nothing(network: TransformerNetwork) -> None:
    access = network.time_access
    rows = [window(length, length) for length in (4, 9, 1, 6)]
    together, scores = network(collate(rows, access)), network.scores(collate(rows, access))
    for i, row in enumerate(rows):
        alone, n = collate([row], access), len(row.items)
        torch.testing.assert_close(network(alone)[0], together[i, :n], rtol=0, atol=1e-5)
        torch.testing.assert_close(network.scores(alone)[0], scores[i], rtol=0, atol=1e-5)
    batch = collate(rows, access)
    scrambled = torch.where(batch.mask, batch.items, 17)  # what is in the padding does not matter at all
    garbled = [
        None if t is None else torch.where(batch.mask, t, 5) for t in (batch.key_time, batch.query_time)
    ]
    after = network(Batch(scrambled, *garbled, batch.lengths))
    assert torch.equal(after[batch.mask], together[batch.mask])


@EVERY
def test_scores_are_those_of_the_last_event(network: TransformerNetwork) -> None:
    batch = collate([window(4, 0), window(7, 1)], network.time_access)
    features, scores = network(batch), network.scores(batch)
    assert scores.shape == (2, ITEMS)
    for row, last in enumerate((3, 6)):
        by_hand = torch.stack([features[row, last] @ network.items.weight[item] for item in range(ITEMS)])
        torch.testing.assert_close(scores[row], by_hand)
    assert isinstance(network, Scorer)
    assert network.max_len == 20
    assert network.needs_clock == (network.time_access != TimeAccess.NONE)


def plainly(network: TransformerNetwork, batch: Batch, probabilities: list[Tensor]) -> Tensor:
    """The network written out, with the attention probabilities that it reported."""
    x = network.items.weight[batch.items]
    if network.calendar is not None:
        x = x + network.calendar(batch.key_time, batch.query_time)
    for block, probability in zip(network.blocks, probabilities, strict=True):
        normed = block.attention_norm(x)
        value = block.attention.project(normed)[..., 32:].unflatten(-1, (2, 8)).transpose(1, 2)
        x = x + block.attention.output((probability @ value).transpose(1, 2).flatten(2))
        x = x + block.feed(block.feed_norm(x))
    return network.norm(x)


@EVERY
def test_reported_attention_is_the_attention(network: TransformerNetwork) -> None:
    batch = collate([window(8, 0), window(5, 1)], network.time_access)
    probabilities = network.attention(batch)
    assert len(probabilities) == 2
    for layer in probabilities:
        assert layer.shape == (2, 2, 8, 8)
        torch.testing.assert_close(layer.sum(-1), torch.ones(2, 2, 8))
        assert (layer.triu(1) == 0).all()
    torch.testing.assert_close(plainly(network, batch, probabilities), network(batch), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", CLOCKS)
def test_no_clock_encoding_without_a_clock(name: str) -> None:
    with pytest.raises(InputError, match=r"time access none withholds.*use history or request") as caught:
        built(CLOCKS[name], TimeAccess.NONE)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_batch_without_times_is_refused(name: str) -> None:
    network = built(ENCODINGS[name], TimeAccess.REQUEST)
    with pytest.raises(InputError, match="built to see times and the batch has none"):
        network.scores(collate([window(3, 0)], TimeAccess.NONE))
    with pytest.raises(InputError, match="built to see times"):
        network.attention(collate([window(3, 0)], TimeAccess.NONE))


def test_without_a_clock_times_are_not_seen() -> None:
    network = built(RoPE(), TimeAccess.NONE).eval()
    assert network.calendar is None
    rows = [window(5, 0)]
    assert torch.equal(
        network.scores(collate(rows, TimeAccess.NONE)), network.scores(collate(rows, TimeAccess.REQUEST))
    )


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_arm_has_the_same_inputs_and_the_same_start(name: str) -> None:
    """Arms differ by their rotation alone, so a paired comparison compares that."""
    control = built(NoEncoding(), TimeAccess.HISTORY).state_dict()
    arm = built(ENCODINGS[name], TimeAccess.HISTORY).state_dict()
    assert {key for key in arm if ".rotation." not in key} == set(control)
    for key, value in control.items():
        assert torch.equal(arm[key], value), key


@pytest.mark.parametrize("name", ENCODINGS)
def test_weights_are_a_function_of_the_seed(name: str) -> None:
    torch.manual_seed(123)
    before = torch.get_rng_state()
    one = built(ENCODINGS[name], TimeAccess.HISTORY, seed=4)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(99)
    two, other = (built(ENCODINGS[name], TimeAccess.HISTORY, seed=seed) for seed in (4, 5))
    for key, value in one.state_dict().items():
        assert torch.equal(two.state_dict()[key], value), key
    assert not torch.equal(one.items.weight, other.items.weight)


def test_each_layer_draws_for_itself() -> None:
    network = built(ClockRoPE(), TimeAccess.HISTORY)
    first, second = (block.attention.rotation.harmonics for block in network.blocks)
    assert not torch.equal(first, second)
    alone = ClockRoPE().build(head_dim=8, num_heads=2, layer=1, seed=0)
    assert torch.equal(second, alone.harmonics)


def test_dropout_acts_in_training_alone() -> None:
    network, batch = (
        built(NoEncoding(), TimeAccess.NONE, dropout=0.5),
        collate([window(6, 0)], TimeAccess.NONE),
    )
    assert not torch.equal(network(batch), network(batch))
    network.eval()
    assert torch.equal(network(batch), network(batch))


def test_gradient_reaches_every_weight() -> None:
    network = built(Split([RoPE(), TRoPE()]), TimeAccess.REQUEST, dropout=0.0)
    network.scores(collate([window(6, 0), window(3, 1)], TimeAccess.REQUEST)).logsumexp(-1).sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().sum() > 0, name


def test_tables_start_at_one_size() -> None:
    network = Transformer(embedding_dim=64).build(
        num_items=500, unit="s", time_access=TimeAccess.HISTORY, seed=0
    )
    tables = [module for module in network.modules() if isinstance(module, nn.Embedding)]
    assert len(tables) == 5  # items, and hour and weekday of event and query
    for table in tables:
        size = float(table.weight.detach().std())
        assert size == pytest.approx(0.02, rel=5 / math.sqrt(2 * table.weight.numel()))


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_blueprint_rebuilds_the_network(name: str) -> None:
    access = TimeAccess.REQUEST
    recipe = Transformer(encoding=ENCODINGS[name], embedding_dim=16, max_len=20)
    blueprint = Blueprint(recipe, num_items=ITEMS, unit="s", time_access=str(access), seed=3)
    again = from_table(tomllib.loads(tomli_w.dumps(to_table(blueprint))), Blueprint)
    assert again == blueprint
    batch = collate([window(6, 0)], access)
    one, two = (made.build().eval() for made in (blueprint, again))
    assert torch.equal(one.scores(batch), two.scores(batch))
    trained = built(ENCODINGS[name], access, seed=8).eval()
    two.load_state_dict(trained.state_dict())
    assert torch.equal(two.scores(batch), trained.scores(batch))


@pytest.mark.parametrize("name", CLOCKS)
def test_bfloat16_weights_keep_the_clock(name: str) -> None:
    """Rounding weights costs a little everywhere; rounding frequencies would cost the clock."""
    network = built(CLOCKS[name], TimeAccess.REQUEST).eval()
    batch = collate([window(6, 0)], TimeAccess.REQUEST)
    exact = network.attention(batch)[0].detach()
    rounded = network.bfloat16().attention(batch)[0].detach()
    assert rounded.dtype == torch.bfloat16
    torch.testing.assert_close(rounded.float(), exact, rtol=0, atol=0.02)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"num_heads": 3}, "embedding_dim 64: expected a multiple of num_heads 3"),
        ({"num_heads": 0}, "num_heads 0"),
        ({"embedding_dim": 0}, "embedding_dim 0"),
        ({"num_layers": 0}, "num_layers 0"),
        ({"max_len": 0}, "max_len 0"),
        ({"dropout": 1.0}, r"dropout 1\.0"),
        ({"dropout": -0.1}, r"dropout -0\.1"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(changed: dict[str, float], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Transformer(**changed)  # type: ignore[arg-type]


def test_heads_of_odd_width_are_refused() -> None:
    with pytest.raises(InputError, match="head_dim 3"):
        Transformer(RoPE(), embedding_dim=6, num_heads=2).build(
            num_items=3, unit="s", time_access=TimeAccess.NONE, seed=0
        )
    with pytest.raises(InputError, match="time unit 'min'"):
        Transformer(ClockRoPE()).build(num_items=3, unit="min", time_access=TimeAccess.REQUEST, seed=0)
    with pytest.raises(InputError, match="time access 'all'"):
        Blueprint(Transformer(), num_items=3, unit="s", time_access="all", seed=0).build()
