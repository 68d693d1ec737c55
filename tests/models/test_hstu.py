"""HSTU against its published code written out, forward and backward, and what its recipe promises."""

import math
import tomllib

import numpy as np
import pytest
import tomli_w
import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from rota.batch import Batch, TimeAccess, Window, collate
from rota.encodings import (
    BiasRecipe,
    Calendar,
    ClockRoPE,
    Encoding,
    GapBias,
    HarmonicRotation,
    NoEncoding,
    NoRotation,
    PositionBias,
    PositionRotation,
    RoPE,
    Split,
    TimeBias,
    TRoPE,
)
from rota.errors import InputError
from rota.histories import Histories, Spans
from rota.models import HSTU, Blueprint, HSTUNetwork
from rota.models.repeat_head import RepeatHead
from rota.models.similarity import Similarity
from rota.tables import from_table, to_table
from rota.training.loop import fit
from rota.training.losses.full_softmax import FullSoftmax
from rota.training.recipe import Training
from rota.training.windows import TrainingWindows

ITEMS, NOW, DIM, HEADS, QK, VALUES, MAX_LEN = 30, 1_700_000_000, 12, 2, 4, 5, 7
BIASES: dict[str, BiasRecipe | None] = {
    "position and time": TimeBias(),
    "time": TimeBias(position=False),
    "position": PositionBias(),
    "no bias": None,
}
ENCODINGS: dict[str, Encoding] = {"none": NoEncoding(), "rope": RoPE(), "clock": ClockRoPE()}


def recipe(**changed: object) -> HSTU:
    sizes = {"embedding_dim": DIM, "num_heads": HEADS, "max_len": MAX_LEN, "qk_dim": QK, "value_dim": VALUES}
    return HSTU(**{**sizes, **changed})  # type: ignore[arg-type]


def built(access: TimeAccess | str = "request", seed: int = 0, **changed: object) -> HSTUNetwork:
    network = recipe(**changed).network(
        num_items=ITEMS, unit="s", time_access=TimeAccess.parse(access), seed=seed
    )
    return network.eval()


def loud(network: HSTUNetwork) -> HSTUNetwork:
    """In float64 with weights so large that every part is heard."""
    network = network.double()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
    return network


def window(length: int, seed: int) -> Window:
    rng = np.random.default_rng(seed)
    times = NOW + np.sort(rng.integers(0, 10 ** int(rng.integers(2, 8)), length + 1))
    return Window(rng.integers(0, ITEMS, length), times[:-1], times[1:])


WINDOWS = [window(length, length) for length in (5, MAX_LEN, 1, 4)]


def rotated(network: HSTUNetwork, layer: int, x: Tensor, times: Tensor) -> Tensor:
    """Each pair of features turned: by a geometric ladder of positions, or by harmonics of the time."""
    rotation, ticks = network.blocks[layer].attention.rotation, times.tolist()
    if isinstance(rotation, NoRotation):
        return x
    angles = torch.zeros(*x.shape[:3], x.shape[3] // 2).double()
    for row, head, i, j in np.ndindex(angles.shape):
        if isinstance(rotation, PositionRotation):
            angles[row, head, i, j] = i * 10_000 ** (-2 * j / QK)
        else:
            assert isinstance(rotation, HarmonicRotation)
            harmonic, period = rotation.harmonics[head, j].item(), rotation.periods[j].item()
            angles[row, head, i, j] = 2 * math.pi * (harmonic * ticks[row][i] % period) / period
    a, b = x[..., 0::2], x[..., 1::2]
    turned = (a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos())
    return torch.stack(turned, -1).flatten(-2)


class Published:
    """The published code's arrays: n places, ids from 1, the target's time after the history, then zeros."""

    def __init__(self, network: HSTUNetwork, windows: list[Window], slack: int) -> None:
        self.network, self.n = network, MAX_LEN + slack
        rows, n = len(windows), self.n
        self.ids = torch.zeros(rows, n, dtype=torch.int64)
        self.times = torch.zeros(rows, n + (slack == 0), dtype=torch.int64)  # RecTools has one more of these
        for row, w in enumerate(windows):
            self.ids[row, : len(w.items)] = torch.from_numpy(w.items) + 1
            self.times[row, : len(w.items)] = torch.from_numpy(w.times)
            self.times[row, len(w.items)] = int(w.query_times[-1])
        events = network.events
        self.E = torch.cat((torch.zeros(1, DIM).double(), events.items.weight.detach())).requires_grad_()
        self.P = torch.zeros(n, DIM).double()
        if events.positions is not None:
            self.P[:MAX_LEN] = events.positions.weight.detach()
        self.P.requires_grad_()
        self.layers = [self._layer(block) for block in network.blocks]

    def _layer(self, block: torch.nn.Module) -> dict[str, Tensor]:
        out = {
            "W": block.project.weight.detach().T.clone(),
            "W_o": block.output.weight.detach().T.clone(),
            "b_o": block.output.bias.detach().clone(),
        }
        bias = block.attention.bias
        if isinstance(bias, GapBias):
            out["w_ts"] = bias.weight.detach().clone()
            bias = bias.position
        if bias is not None:
            out["w_pos"] = torch.zeros(2 * self.n - 1).double()
            out["w_pos"][self.distances] = bias.weight.detach()
        return {name: tensor.requires_grad_() for name, tensor in out.items()}

    @property
    def distances(self) -> slice:
        """Those of ``w_pos`` that two events can have."""
        return slice(self.n - MAX_LEN, self.n + MAX_LEN - 1)

    def rab(self, layer: dict[str, Tensor], asked: Tensor) -> Tensor:
        rows, n = self.ids.shape
        query, key, out = asked.tolist(), self.times.tolist(), []
        for row, i, j in np.ndindex(rows, n, n):
            out.append(torch.zeros(()).double())
            if "w_pos" in layer:
                out[-1] = out[-1] + layer["w_pos"][(n - 1) + (j - i)]
            if "w_ts" in layer:
                gap = abs(query[row][i] - key[row][j])
                bucket = min(max(math.floor(math.log(max(gap, 1)) / 0.301), 0), 128)
                out[-1] = out[-1] + layer["w_ts"][bucket]
        return torch.stack(out).view(rows, n, n)

    def __call__(self, access: str, divisor: str) -> Tensor:
        rows, n = self.ids.shape
        extended = torch.cat((self.times, self.times[:, -1:]), 1)
        asked = extended[:, 1 : n + 1] if access == "request" else self.times[:, :n]
        valid = (self.ids > 0)[..., None]
        x = (math.sqrt(DIM) * self.E[self.ids] + self.P) * valid
        lower = torch.ones(n, n).double().tril()
        for at, layer in enumerate(self.layers):
            uvqk = layer_norm(x, (DIM,), eps=1e-6) @ layer["W"]
            uvqk = uvqk / (1 + torch.exp(-uvqk))
            u, v, q, k = uvqk.split([HEADS * VALUES, HEADS * VALUES, HEADS * QK, HEADS * QK], -1)
            rab, mixed = self.rab(layer, asked), []
            q, k = (part.view(rows, n, HEADS, QK).transpose(1, 2) for part in (q, k))
            q, k = rotated(self.network, at, q, asked), rotated(self.network, at, k, self.times)
            for head in range(HEADS):
                logits = torch.einsum("bid,bjd->bij", q[:, head], k[:, head]) + rab
                weights = logits * torch.sigmoid(logits) * lower
                weights = weights / (n if divisor == "padded" else torch.arange(1, n + 1)[:, None])
                mixed.append(
                    torch.einsum("bij,bjd->bid", weights, v[..., head * VALUES : (head + 1) * VALUES])
                )
            gated = u * layer_norm(torch.cat(mixed, -1), (HEADS * VALUES,), eps=1e-6)
            x = (gated @ layer["W_o"] + layer["b_o"] + x) * valid
        return self.logits(x)[:, :MAX_LEN]

    def logits(self, x: Tensor) -> Tensor:
        user = x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)
        items = self.E[1:] / self.E[1:].norm(dim=-1, keepdim=True).clamp(min=1e-6)
        return user @ items.T / 0.05

    def gradients(self) -> dict[str, Tensor]:
        """By the names of our network."""
        out = {"events.items.weight": self.E.grad[1:], "events.positions.weight": self.P.grad[:MAX_LEN]}
        for at, layer in enumerate(self.layers):
            out[f"blocks.{at}.project.weight"] = layer["W"].grad.T
            out[f"blocks.{at}.output.weight"] = layer["W_o"].grad.T
            out[f"blocks.{at}.output.bias"] = layer["b_o"].grad
            place = f"blocks.{at}.attention.bias."
            if "w_ts" in layer:
                out[f"{place}weight"] = layer["w_ts"].grad
                place += "position."
            if "w_pos" in layer:
                out[f"{place}weight"] = layer["w_pos"].grad[self.distances]
        return out


@pytest.mark.parametrize(
    ("bias", "divisor", "encoding", "slack", "access"),
    [
        *[(bias, divisor, "none", 11, "request") for bias in BIASES for divisor in ("padded", "length")],
        ("position and time", "padded", "none", 0, "request"),
        ("position and time", "padded", "none", 11, "history"),
        ("position and time", "padded", "rope", 11, "request"),
        ("no bias", "length", "rope", 11, "request"),
        ("time", "padded", "clock", 11, "request"),
        ("no bias", "padded", "clock", 11, "history"),
    ],
)
def test_against_the_published_code(bias: str, divisor: str, encoding: str, slack: int, access: str) -> None:
    network = loud(
        built(access, bias=BIASES[bias], divisor=divisor, encoding=ENCODINGS[encoding], slack=slack)
    )
    batch, published = collate(WINDOWS, access), Published(network, WINDOWS, slack)
    found = []
    for logits in (network(batch).features @ network.item_embeddings.T, published(access, divisor)):
        real = logits[batch.mask]
        (real * torch.linspace(-1, 1, real.numel()).double().view_as(real)).sum().backward()
        found.append(real.detach())
    near = 1e-9 if encoding == "none" else 1e-4  # phases are float32; logits are up to 20
    torch.testing.assert_close(*found, rtol=0, atol=near)
    wanted = published.gradients()
    for name, parameter in network.named_parameters():
        slow = wanted.pop(name)
        torch.testing.assert_close(parameter.grad, slow, rtol=near, atol=near * float(slow.abs().max()))
        assert float(slow.abs().max()) > 1e-3, name
    assert not wanted


def test_the_divisor_is_that_of_the_recipe_in_a_short_batch() -> None:
    network = built(max_len=50)
    for block in network.blocks:
        assert block.attention._divisors(torch.zeros(1, 1, 3, 3)) == 61
    x = torch.randn(2, 3, DIM, generator=torch.Generator().manual_seed(0))
    times = torch.full((2, 3), NOW)
    for slack, n in ((11, 61), (0, 50)):
        block = built(max_len=50, slack=slack).blocks[0]
        _, _, q, k = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in block._parts(x))
        bias = block.attention.bias(times, times)
        by_hand = torch.nn.functional.silu(q @ k.mT + bias).tril() / n
        torch.testing.assert_close(block.weights(x, times, times), by_hand)
    with pytest.raises(InputError, match="51 events in a row"):
        network(collate([window(51, 0)], "request"))


@pytest.mark.parametrize("divisor", ["padded", "length"])
@pytest.mark.parametrize("bias", BIASES)
def test_nothing_looks_ahead_and_padding_and_batch_mates_change_nothing(bias: str, divisor: str) -> None:
    network = loud(built(bias=BIASES[bias], divisor=divisor, encoding=Split([RoPE(), TRoPE()]), qk_dim=8))
    batch = collate(WINDOWS, "request")
    together = network(batch).features
    for row, own in enumerate(WINDOWS):
        alone = network(collate([own], "request")).features[0]
        torch.testing.assert_close(together[row, : len(own.items)], alone, rtol=0, atol=1e-5)
    mask = batch.mask
    garbled = [torch.where(mask, real, 17) for real in (batch.items, batch.key_time, batch.query_time)]
    assert torch.equal(network(Batch(*garbled, batch.lengths)).features[mask], together[mask])
    late = torch.arange(MAX_LEN) >= 4
    changed = Batch(
        torch.where(late, (batch.items + 1) % ITEMS, batch.items),
        torch.where(late, batch.key_time + 40_000, batch.key_time),
        torch.where(late, batch.query_time + 90_000, batch.query_time),
        batch.lengths,
    )
    after = network(changed).features
    assert torch.equal(after[:, :4], together[:, :4])
    assert (after[:, 4:] != together[:, 4:]).any()


@pytest.mark.parametrize("bias", BIASES)
def test_reported_shares_are_the_sizes_of_the_weights(bias: str) -> None:
    network = loud(built(bias=BIASES[bias]))
    batch = collate(WINDOWS, "request")
    layers = network.attention(batch)
    assert len(layers) == 2
    for layer in layers:
        assert layer.shape == (4, HEADS, MAX_LEN, MAX_LEN)
        torch.testing.assert_close(layer.sum(-1), torch.ones_like(layer[..., 0]))
        assert (layer.triu(1) == 0).all()
    x = network.events(batch)
    sizes = network.blocks[0].weights(x, batch.query_time, batch.key_time).abs()
    torch.testing.assert_close(layers[0] * sizes.sum(-1, keepdim=True), sizes)
    with torch.no_grad():  # of nothing, all have the same
        for parameter in network.parameters():
            parameter.zero_()
    even = torch.ones(MAX_LEN, MAX_LEN).tril() / torch.arange(1, MAX_LEN + 1)[:, None]
    torch.testing.assert_close(network.attention(batch)[0], even.expand(4, HEADS, -1, -1).double())


def test_buckets_are_found_once_for_all_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    network, batch = loud(built(num_layers=3)), collate(WINDOWS, "request")
    calls, buckets = [], GapBias.buckets
    monkeypatch.setattr(GapBias, "buckets", lambda *given: calls.append(1) or buckets(*given))
    shared = network(batch).features
    assert len(calls) == 1
    x = network.events(batch)
    for block in network.blocks:  # each asks its own
        x = block(x, batch.query_time, batch.key_time, None)
    assert len(calls) == 4
    torch.testing.assert_close(shared, network.similarity.of_features(x), rtol=0, atol=1e-12)


def test_it_starts_as_published() -> None:
    network = HSTU(embedding_dim=64, num_heads=2, max_len=389).network(
        num_items=4000, unit="s", time_access=TimeAccess.REQUEST, seed=0
    )
    items = network.events.items.weight.detach()
    assert float(items.abs().max()) <= 0.04
    assert float(items.std()) == pytest.approx(0.02 * 0.8796, rel=0.02)  # of a normal law cut at two of them
    positions = network.events.positions.weight.detach()
    assert float(positions.std()) == pytest.approx(math.sqrt(2 / (400 + 64)), rel=0.03)
    for block in network.blocks:
        assert block.project.bias is None
        assert float(block.project.weight.detach().std()) == pytest.approx(0.02, rel=0.03)
        assert float(block.output.weight.detach().abs().max()) == pytest.approx(math.sqrt(6 / 128), rel=0.01)
        norms = [module for module in block.modules() if isinstance(module, torch.nn.LayerNorm)]
        assert [(norm.eps, norm.elementwise_affine) for norm in norms] == [(1e-6, False)] * 2
    assert network.similarity == Similarity(normalised=True, temperature=0.05)
    first, second = (block.attention.bias.weight for block in network.blocks)
    assert not torch.equal(first, second)


def test_widths_of_a_head() -> None:
    for changed, qk, values in (({}, 6, 6), ({"qk_dim": 4}, 4, 6), ({"value_dim": 3}, 6, 3)):
        made = recipe(**{"qk_dim": None, "value_dim": None, **changed})
        assert (made.qk_width, made.value_width) == (qk, values)
        network = made.build(num_items=ITEMS, unit="s", time_access=TimeAccess.REQUEST, seed=0)
        assert network.blocks[0].project.weight.shape == (2 * HEADS * (qk + values), DIM)
        assert network(collate(WINDOWS, "request")).features.shape == (4, MAX_LEN, DIM)


def test_what_works_by_time_is_refused_without_a_clock_by_name() -> None:
    none = TimeAccess.NONE
    for changed, name in (
        ({}, "TimeBias"),
        ({"bias": PositionBias(), "encoding": ClockRoPE()}, "ClockRoPE"),
        ({"bias": None, "repeat_head": RepeatHead(ClockRoPE())}, "ClockRoPE"),
    ):
        with pytest.raises(InputError, match=f"{name} works by time, which time access none withholds"):
            recipe(**changed).build(num_items=ITEMS, unit="s", time_access=none, seed=0)
    assert recipe(encoding=TRoPE()).clocks() == ["TRoPE", "TimeBias"]
    blind = recipe(bias=PositionBias(), encoding=RoPE(), inputs=(Calendar(),))
    assert blind.clocks() == []
    network = blind.build(num_items=ITEMS, unit="s", time_access=none, seed=0).eval()
    assert len(network.events.features) == 0
    batches = [collate(WINDOWS, access) for access in (none, TimeAccess.REQUEST)]
    assert torch.equal(*(network.scores(batch) for batch in batches))
    told = blind.build(num_items=ITEMS, unit="s", time_access=TimeAccess.REQUEST, seed=0)
    assert len(told.events.features) == 1


def test_the_request_is_known_at_request_alone() -> None:
    row = window(5, 0)
    other = Window(row.items, row.times, row.query_times + 10**8)
    for access, same in (("history", True), ("request", False)):
        network = loud(built(access))
        one, two = (network.scores(collate([w], access)) for w in (row, other))
        assert torch.equal(one, two) == same


@pytest.mark.parametrize("bias", BIASES)
def test_bfloat16_autocast_is_near(bias: str) -> None:
    network, batch = built(bias=BIASES[bias], encoding=ClockRoPE(), qk_dim=8), collate(WINDOWS, "request")
    exact = network(batch).features.detach()
    with torch.autocast("cpu", torch.bfloat16):
        rounded = network(batch).features
        rounded.square().sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in network.parameters())
    real = torch.nn.functional.cosine_similarity(rounded.detach().float(), exact, dim=-1)[batch.mask]
    assert float(real.min()) > 0.999


@pytest.mark.parametrize("changed", [{}, {"bias": None, "position_embedding": True, "divisor": "length"}])
def test_ten_users_are_learnt_by_heart(changed: dict[str, object]) -> None:
    """Histories without any rule: each next item has to be known by what came before it."""
    rng, users, length = np.random.default_rng(0), 10, 12
    items = rng.integers(0, ITEMS, users * length)
    times = NOW + np.sort(rng.integers(0, 10**6, (users, length)), 1).ravel()
    offsets = np.arange(users + 1) * length
    spans = Spans(np.arange(users), offsets[:-1], offsets[1:], offsets[1:])
    windows = TrainingWindows(Histories(items, times, offsets, ITEMS), spans, length, TimeAccess.REQUEST)
    asked = windows.collate(list(range(len(windows))))
    network = recipe(embedding_dim=32, max_len=length, dropout=0.0, qk_dim=None, value_dim=None, **changed)
    network = network.build(num_items=ITEMS, unit="s", time_access=TimeAccess.REQUEST, seed=0)

    def known() -> float:
        with torch.no_grad():
            logits = network(asked.batch).features.flatten(0, 1)[asked.asked] @ network.item_embeddings.T
        return float((logits.argmax(-1) == asked.targets).double().mean())

    training = Training(epochs=25, batch_size=5, learning_rate=1e-2, patience=25, loss=FullSoftmax())
    before = known()
    fitted = fit(
        network, windows, training, seed=0, validate=known, keep=lambda: None, report=lambda progress: None
    )
    assert before < 0.3
    assert max(fitted.validation) > 0.95


def test_a_repeat_head_has_the_encoding_and_not_the_bias() -> None:
    model = recipe(encoding=ClockRoPE(), repeat_head=RepeatHead(), qk_dim=8)
    network = model.build(num_items=ITEMS, unit="s", time_access=TimeAccess.REQUEST, seed=0).eval()
    scores = network.scores(collate(WINDOWS, "request"))
    torch.testing.assert_close(scores.exp().sum(-1), torch.ones(4))
    assert not any("bias" in name and "attention" in name for name, _ in network.repeat_head.named_modules())


@pytest.mark.parametrize("bias", BIASES)
def test_a_blueprint_rebuilds_the_network(bias: str) -> None:
    model = recipe(
        bias=BIASES[bias], divisor="length", slack=0, inputs=(Calendar(),), similarity=Similarity()
    )
    blueprint = Blueprint(model, num_items=ITEMS, unit="s", time_access="request", seed=3)
    again = from_table(tomllib.loads(tomli_w.dumps(to_table(blueprint))), Blueprint)
    assert again == blueprint
    batch = collate(WINDOWS, "request")
    one, two = (made.build().eval() for made in (blueprint, again))
    assert torch.equal(one.scores(batch), two.scores(batch))
    assert recipe(bias=None) == recipe(bias="none")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"qk_dim": 0}, "qk_dim 0 of HSTU: expected a whole number of at least 1"),
        ({"value_dim": -2}, "value_dim -2 of HSTU"),
        ({"slack": -1}, "slack -1 of HSTU: expected a whole number of at least 0"),
        ({"divisor": "rows"}, "divisor 'rows': expected one of padded, length"),
        ({"embedding_dim": 13}, "embedding_dim 13: expected a multiple of num_heads 2"),
        ({"num_layers": 0}, "num_layers 0"),
        ({"dropout": 1.0}, r"dropout 1\.0"),
    ],
)
def test_what_no_network_has_is_refused(changed: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        recipe(**changed)
    assert "\n" not in str(caught.value)


def test_what_does_not_fit_together_is_refused(unchecked_shapes: None) -> None:
    for encoding in (RoPE(), ClockRoPE()):
        with pytest.raises(InputError, match=r"head_dim 3: .*expected an even number"):
            built(encoding=encoding, qk_dim=3)
    for name, wrong in (("qk_dim", 2.5), ("position_embedding", "yes"), ("bias", "some")):
        with pytest.raises(InputError, match=f"{name} {wrong!r}"):
            recipe(**{name: wrong})
    table = {**to_table(recipe()), "bias": "some"}
    with pytest.raises(InputError, match="bias is 'some'"):
        from_table(table, HSTU)
    with pytest.raises(InputError, match="built to see times and the batch has none"):
        built()(collate(WINDOWS, "none"))
