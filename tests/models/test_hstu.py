"""HSTU against its published code written out, forward and backward, and what its recipe promises."""

import math
import tomllib

import numpy as np
import pytest
import tomli_w
import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from rota.attention import Divisor
from rota.batch import TimeAccess, Window, collate
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
    TimeBias,
    TRoPE,
)
from rota.errors import InputError
from rota.models import HSTU, HSTUNetwork
from rota.models.repeat_head import RepeatHead
from rota.models.similarity import Similarity
from rota.tables import from_table, to_table

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
            angles[row, head, i, j] = i * 10_000 ** (-2 * j / x.shape[-1])
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
        rows, n, heads = len(windows), self.n, network.blocks[0].num_heads
        self.heads, self.dim = heads, network.events.items.embedding_dim
        self.values, _, self.qk, _ = (width // heads for width in network.blocks[0].widths)
        self.ids = torch.zeros(rows, n, dtype=torch.int64)
        self.times = torch.zeros(rows, n + (slack == 0), dtype=torch.int64)  # RecTools has one more of these
        for row, w in enumerate(windows):
            self.ids[row, : len(w.items)] = torch.from_numpy(w.items) + 1
            self.times[row, : len(w.items)] = torch.from_numpy(w.times)
            self.times[row, len(w.items)] = int(w.query_times[-1])
        events = network.events
        self.E = torch.cat((torch.zeros(1, self.dim).double(), events.items.weight.detach())).requires_grad_()
        self.P = torch.zeros(n, self.dim).double()
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
        (rows, n), heads, values, qk = self.ids.shape, self.heads, self.values, self.qk
        extended = torch.cat((self.times, self.times[:, -1:]), 1)
        asked = extended[:, 1 : n + 1] if access == "request" else self.times[:, :n]
        valid = (self.ids > 0)[..., None]
        x = (math.sqrt(self.dim) * self.E[self.ids] + self.P) * valid
        lower = torch.ones(n, n).double().tril()
        for at, layer in enumerate(self.layers):
            uvqk = layer_norm(x, (self.dim,), eps=1e-6) @ layer["W"]
            uvqk = uvqk / (1 + torch.exp(-uvqk))
            u, v, q, k = uvqk.split([heads * values, heads * values, heads * qk, heads * qk], -1)
            rab, mixed = self.rab(layer, asked), []
            q, k = (part.view(rows, n, heads, qk).transpose(1, 2) for part in (q, k))
            q, k = rotated(self.network, at, q, asked), rotated(self.network, at, k, self.times)
            for head in range(heads):
                logits = torch.einsum("bid,bjd->bij", q[:, head], k[:, head]) + rab
                weights = logits * torch.sigmoid(logits) * lower
                weights = weights / (n if divisor == "padded" else torch.arange(1, n + 1)[:, None])
                mixed.append(
                    torch.einsum("bij,bjd->bid", weights, v[..., head * values : (head + 1) * values])
                )
            gated = u * layer_norm(torch.cat(mixed, -1), (heads * values,), eps=1e-6)
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


def same_as_published(network: HSTUNetwork, slack: int, access: str, divisor: str, near: float) -> None:
    """Logits of real events, and the gradient of every weight."""
    batch, published = collate(WINDOWS, access), Published(network, WINDOWS, slack)
    found = []
    for logits in (network(batch).features @ network.item_embeddings.T, published(access, divisor)):
        real = logits[batch.mask]
        (real * torch.linspace(-1, 1, real.numel()).double().view_as(real)).sum().backward()
        found.append(real.detach())
    torch.testing.assert_close(*found, rtol=0, atol=near)
    wanted = published.gradients()
    for name, parameter in network.named_parameters():
        slow = wanted.pop(name)
        torch.testing.assert_close(parameter.grad, slow, rtol=near, atol=near * float(slow.abs().max()))
        assert float(slow.abs().max()) > 1e-3, name
    assert not wanted


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
    near = 1e-9 if encoding == "none" else 1e-4  # phases are float32; logits are up to 20
    changed = {"bias": BIASES[bias], "divisor": divisor, "encoding": ENCODINGS[encoding], "slack": slack}
    same_as_published(loud(built(access, **changed)), slack, access, divisor, near)


@pytest.mark.parametrize(
    ("heads", "widths"),
    [
        (2, {"qk_dim": None, "value_dim": None}),  # HSTU-large on MovieLens-1M, whose heads are 25 wide
        (8, {"qk_dim": 25, "value_dim": 25}),  # more of these heads than the width has room for
        (8, {"qk_dim": 6, "value_dim": 7}),
    ],
)
def test_widths_of_heads_are_free_as_in_the_published_code(heads: int, widths: dict[str, int | None]) -> None:
    network = loud(built(embedding_dim=50, num_heads=heads, num_layers=1, **widths))
    qk, values = widths["qk_dim"] or 25, widths["value_dim"] or 25
    assert network.blocks[0].project.weight.shape == (heads * 2 * (qk + values), 50)
    same_as_published(network, 11, "request", "padded", 1e-9)


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


@pytest.mark.parametrize("bias", BIASES)
def test_reported_shares_are_the_sizes_of_the_weights(bias: str) -> None:
    network = loud(built(bias=BIASES[bias]))
    batch = collate(WINDOWS, "request")
    sizes = network.blocks[0].weights(network.events(batch), batch.query_time, batch.key_time).abs()
    torch.testing.assert_close(network.attention(batch)[0] * sizes.sum(-1, keepdim=True), sizes)
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


def test_its_bias_may_work_by_time() -> None:
    assert recipe(encoding=TRoPE()).clocks() == ["TRoPE", "TimeBias"]
    with pytest.raises(InputError, match="TimeBias works by time, which time access none withholds"):
        recipe().build(num_items=ITEMS, unit="s", time_access=TimeAccess.NONE, seed=0)
    for bias in (PositionBias(), None):
        blind = recipe(bias=bias, inputs=(Calendar(),))
        assert blind.clocks() == []
        for access, told in ((TimeAccess.NONE, 0), (TimeAccess.REQUEST, 1)):
            network = blind.build(num_items=ITEMS, unit="s", time_access=access, seed=0)
            assert len(network.events.features) == told
        network = loud(built(TimeAccess.NONE, bias=bias))
        assert torch.equal(*(network.scores(collate(WINDOWS, access)) for access in ("none", "request")))


def test_a_divisor_by_length_does_not_look_ahead() -> None:
    network, whole = loud(built(divisor="length")), window(MAX_LEN, 0)
    cut = Window(whole.items[:4], whole.times[:4], whole.query_times[:4])
    one, two = (network(collate([row], "request")).features[0, :4] for row in (whole, cut))
    torch.testing.assert_close(one, two, rtol=0, atol=1e-12)


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


def test_a_repeat_head_has_the_encoding_and_not_the_bias() -> None:
    model = recipe(encoding=ClockRoPE(), repeat_head=RepeatHead(), qk_dim=8)
    network = model.build(num_items=ITEMS, unit="s", time_access=TimeAccess.REQUEST, seed=0)
    assert isinstance(network.repeat_head.rotation, HarmonicRotation)
    assert not any("bias" in name and "attention" in name for name, _ in network.repeat_head.named_modules())


@pytest.mark.parametrize("bias", BIASES)
def test_a_table_keeps_what_is_its_own(bias: str) -> None:
    model = recipe(bias=BIASES[bias], divisor="length", slack=0)
    again = from_table(tomllib.loads(tomli_w.dumps(to_table(model))), HSTU)
    assert again == model
    assert (again.divisor, again.slack, again.qk_dim, again.value_dim) == (Divisor.LENGTH, 0, QK, VALUES)
    assert recipe(bias=None) == recipe(bias="none")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"qk_dim": 0}, "qk_dim 0 of HSTU: expected a whole number of at least 1"),
        ({"value_dim": -2}, "value_dim -2 of HSTU"),
        ({"slack": -1}, "slack -1 of HSTU: expected a whole number of at least 0"),
        ({"divisor": "rows"}, "divisor 'rows': expected one of padded, length"),
        ({"embedding_dim": 13, "qk_dim": None}, "a multiple of num_heads 2, or both qk_dim and value_dim"),
        ({"embedding_dim": 13, "value_dim": None}, "a multiple of num_heads 2, or both qk_dim and value_dim"),
        ({"embedding_dim": 13, "repeat_head": RepeatHead()}, "multiple of num_heads 2.* and no repeat head"),
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
