"""The repeat head against loops, and copies at the ends: nothing to copy, all of it, a closed gate."""

import math
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from models_tried import angles_of, turned
from torch import Tensor

from rota.batch import TimeAccess
from rota.encodings import ClockRoPE, Encoding, NoEncoding, RoPE, Split
from rota.errors import InputError
from rota.models import Copies, RepeatHead, Transformer

DIM, HEADS, NOW = 16, 2, 1_700_000_000
BATCH, LENGTH, ITEMS = 3, 6, 7


def head(encoding: Encoding | None = None, own: Encoding | None = None) -> torch.nn.Module:
    torch.manual_seed(0)
    recipe = RepeatHead(own)
    return recipe.build(DIM, HEADS, encoding=encoding or NoEncoding(), layer=2, seed=5, unit="s").double()


def inputs(seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    events, hidden = torch.randn(2, BATCH, LENGTH, DIM, generator=generator, dtype=torch.float64)
    items = torch.randint(0, ITEMS, (BATCH, LENGTH), generator=generator)
    key_time = NOW + torch.randint(0, 10**6, (BATCH, LENGTH), generator=generator).sort(-1).values
    return events, hidden, items, key_time + 7000, key_time


def log_sum(terms: list[Tensor]) -> Tensor:
    return torch.stack(terms).exp().sum().log()


ENCODINGS: dict[str, Encoding] = {
    "none": NoEncoding(),
    "rope": RoPE(),
    "clock": ClockRoPE(),
    "rope+clock": Split([RoPE(), ClockRoPE()]),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_against_loops_forward_and_backward(name: str) -> None:
    layer, (events, hidden, items, asked, seen) = head(ENCODINGS[name]), inputs()
    held = layer.state_dict()
    copies = layer(events, hidden, items, asked, seen)
    assert copies.items is items
    width = DIM // HEADS
    queries, keys = (torch.zeros(BATCH, HEADS, LENGTH, width, dtype=torch.float64) for _ in range(2))
    for row, i in product(range(BATCH), range(LENGTH)):
        before = hidden[row, i - 1] if i else torch.zeros(DIM, dtype=torch.float64)
        query = layer.query.weight @ hidden[row, i] + layer.query.bias
        key = layer.event_key.weight @ events[row, i] + layer.event_key.bias + layer.state_key.weight @ before
        for at in range(HEADS):
            part = slice(at * width, (at + 1) * width)
            turns = angles_of(name, held, "rotation", "query", at, i, int(asked[row, i]))
            queries[row, at, i] = turned(query[part], turns)
            turns = angles_of(name, held, "rotation", "key", at, i, int(seen[row, i]))
            keys[row, at, i] = turned(key[part], turns)
    copied = torch.zeros(BATCH, LENGTH, LENGTH, dtype=torch.float64)
    new = torch.zeros(BATCH, LENGTH, dtype=torch.float64)
    for row, i in product(range(BATCH), range(LENGTH)):
        gate = layer.gate.weight @ hidden[row, i] + layer.gate.bias
        new[row, i] = gate[0] - log_sum(list(gate))
        for at in range(HEADS):
            logits = [queries[row, at, i] @ keys[row, at, j] / math.sqrt(width) for j in range(i + 1)]
            for j, logit in enumerate(logits):
                falls, share = logit - log_sum(logits), gate[at + 1] - log_sum(list(gate))
                copied[row, i, j] = copied[row, i, j] + (falls + share).exp()
    torch.testing.assert_close(copies.log_new.double(), new, rtol=0, atol=1e-6)
    torch.testing.assert_close(copies.copied.double(), copied, rtol=0, atol=1e-6)
    aim = torch.randn(BATCH, LENGTH, LENGTH, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    parameters = [p for p in layer.parameters() if p.requires_grad]
    sides = [
        torch.autograd.grad((c * aim).sum() + (n * aim[..., 0]).sum(), parameters)
        for c, n in ((copies.copied, copies.log_new), (copied, new))
    ]
    for mine, theirs in zip(*sides, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


def some_copies(seed: int = 0) -> Copies:
    """In float64, as any gate and any attention could have made them."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(2), (BATCH, LENGTH))
    falls = np.tril(rng.gamma(1.0, size=(BATCH, LENGTH, LENGTH)))
    copied = falls / falls.sum(-1, keepdims=True) * shares[..., 1:]
    items = torch.from_numpy(rng.integers(0, ITEMS, (BATCH, LENGTH)))
    return Copies(torch.from_numpy(np.log(shares[..., 0])), torch.from_numpy(copied), items)


@given(st.integers(0, 10**6))
def test_mixed_is_the_sum_of_both_sources_and_sums_to_one(seed: int) -> None:
    copies = some_copies(seed)
    logits = torch.randn(BATCH, LENGTH, ITEMS, generator=torch.Generator().manual_seed(seed)).double()
    catalogue = logits.log_softmax(-1)
    cells = list(product(range(BATCH), range(LENGTH), range(ITEMS)))
    asked = torch.tensor([row * LENGTH + i for row, i, _ in cells])
    targets = torch.tensor([item for *_, item in cells])
    likelihood = torch.stack([catalogue[cell] for cell in cells])
    mixed = copies.mixed(likelihood, asked, targets)
    for (row, i, item), said in zip(cells, mixed.tolist(), strict=True):
        p = math.exp(copies.log_new[row, i] + catalogue[row, i, item])
        for j in range(LENGTH):
            if int(copies.items[row, j]) == item:
                p += float(copies.copied[row, i, j])
        assert said == pytest.approx(math.log(p), abs=1e-9)
    torch.testing.assert_close(
        mixed.exp().view(BATCH, LENGTH, ITEMS).sum(-1), torch.ones(BATCH, LENGTH, dtype=torch.float64)
    )
    lengths = torch.tensor([LENGTH, 1, 3])
    last = [mixed.view(BATCH, LENGTH, ITEMS)[row, n - 1] for row, n in enumerate(lengths.tolist())]
    chosen = torch.stack([logits[row, n - 1] for row, n in enumerate(lengths.tolist())])
    torch.testing.assert_close(copies.log_probabilities(chosen, lengths), torch.stack(last))


def learnt(items: list[int], target: int, gate: float = 0.0) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Loss of one target after one history, that of the catalogue alone, and gradients of everything."""
    layer = head().float()
    with torch.no_grad():
        layer.gate.bias[0] = gate
    row = torch.tensor([items])
    features = torch.randn(1, len(items), DIM, generator=torch.Generator().manual_seed(2), requires_grad=True)
    logits = torch.randn(ITEMS, generator=torch.Generator().manual_seed(3)).requires_grad_()
    alone = logits.log_softmax(-1)[target]
    copies = layer(features, features, row, None, None)
    loss = -copies.mixed(alone[None], torch.tensor([len(items) - 1]), torch.tensor([target]))[0]
    grads = torch.autograd.grad(loss, [features, logits, *layer.parameters()])
    return loss, -alone, list(grads)


@pytest.mark.parametrize("gate", [-500.0, -60.0, 0.0, 60.0, 500.0])  # of the catalogue, in logits
@pytest.mark.parametrize(
    "items", [[1, 1, 1], [2, 3, 2], [1, 3, 2]], ids=["always", "never seen", "seen once"]
)
def test_gradients_are_finite_wherever_the_target_was_seen(items: list[int], gate: float) -> None:
    loss, _, grads = learnt(items, target=1, gate=gate)
    assert loss.isfinite()
    for grad in grads:
        assert grad.isfinite().all()


def test_the_gate_can_close_and_open() -> None:
    for items in ([1, 1, 1], [2, 3, 2]):  # closed: the catalogue alone
        loss, alone, grads = learnt(items, target=1, gate=90.0)
        assert float(loss.detach()) == pytest.approx(float(alone.detach()), abs=1e-6)
        assert grads[1].abs().sum() > 0
    loss, _, grads = learnt([1, 1, 1], target=1, gate=-90.0)  # open: the history alone, in which all is right
    assert float(loss.detach()) == pytest.approx(0, abs=1e-6)
    assert grads[1].abs().sum() < 1e-6
    loss, alone, _ = learnt([2, 3, 2], target=1, gate=-90.0)  # what was never seen costs the whole gate
    assert float((loss - alone).detach()) == pytest.approx(90, abs=5)


def test_a_target_that_was_never_seen_draws_the_gate_to_the_catalogue() -> None:
    names = ["features", "logits", *(name for name, _ in head().named_parameters())]
    at = names.index("gate.bias")
    toward = [learnt(items, target=1)[2][at] for items in ([2, 3, 2], [1, 1, 1])]
    assert toward[0][0] < 0 < toward[1][0]  # descending raises the catalogue's logit, or lowers it
    for gradient in toward:
        assert float(gradient.sum()) == pytest.approx(0, abs=1e-6)


def test_a_likelihood_of_zero_leaves_the_copies() -> None:
    copies = some_copies()
    impossible = torch.full((2,), -math.inf, dtype=torch.float64)
    item = int(copies.items[0, 0])
    unseen = next(other for other in range(ITEMS) if other not in copies.items[0].tolist())
    mixed = copies.mixed(impossible, torch.tensor([LENGTH - 1] * 2), torch.tensor([item, unseen]))
    own = sum(float(copies.copied[0, -1, j]) for j in range(LENGTH) if int(copies.items[0, j]) == item)
    assert float(mixed[0]) == pytest.approx(math.log(own))
    assert float(mixed[1]) == -math.inf


def test_even_attention_copies_by_frequency() -> None:
    layer, (events, hidden, items, _, _) = head(), inputs()
    with torch.no_grad():
        layer.query.weight.zero_()
        layer.query.bias.zero_()
        layer.gate.weight.zero_()
        layer.gate.bias.copy_(torch.tensor([-50.0, 0.0, 0.0]))
    lengths = torch.tensor([LENGTH, 4, 1])
    said = (
        layer(events, hidden, items, None, None).log_probabilities(torch.zeros(BATCH, ITEMS), lengths).exp()
    )
    for row, length in enumerate(lengths.tolist()):
        counts = np.bincount(items[row, :length].numpy(), minlength=ITEMS) / length
        np.testing.assert_allclose(said[row].detach().numpy(), counts, atol=1e-6)


def test_it_has_the_models_encoding_or_its_own_with_a_draw_of_its_own() -> None:
    same, own = head(ClockRoPE()), head(RoPE(), ClockRoPE())
    alone = ClockRoPE().build(head_dim=DIM // HEADS, num_heads=HEADS, layer=2, seed=5)
    for made in (same, own):
        assert torch.equal(made.rotation.harmonics, alone.harmonics)
    other = ClockRoPE().build(head_dim=DIM // HEADS, num_heads=HEADS, layer=0, seed=5)
    assert not torch.equal(same.rotation.harmonics, other.harmonics)
    model = Transformer(
        ClockRoPE(), embedding_dim=DIM, num_layers=2, num_heads=HEADS, repeat_head=RepeatHead()
    )
    network = model.build(num_items=ITEMS, unit="s", time_access=TimeAccess.HISTORY, seed=5)
    assert network.repeat_head is not None
    assert torch.equal(network.repeat_head.rotation.get_buffer("harmonics"), alone.harmonics)
    assert RepeatHead(ClockRoPE()).clocks() == ["ClockRoPE"]
    assert RepeatHead(RoPE()).clocks() == RepeatHead().clocks() == []


def test_a_missing_time_is_refused() -> None:
    events, hidden, items, _, _ = inputs()
    with pytest.raises(InputError, match="ClockRoPE needs the time of each query"):
        head(ClockRoPE())(events, hidden, items, None, None)
