"""Attention of one input over another: against loops, with and without a rotation; where dropout falls."""

import math

import pytest
import torch
from torch import Tensor, nn

from rota.attention import SoftmaxOfTwo
from rota.encodings import ClockRoPE, Encoding, NoEncoding, RoPE, TRoPE
from rota.errors import InputError

DIM, HEADS, NOW = 16, 2, 1_700_000_000
EVERY = pytest.mark.parametrize("encoding", [NoEncoding(), RoPE(), ClockRoPE(), TRoPE()])


def made(encoding: Encoding, dropout: float = 0.0) -> SoftmaxOfTwo:
    torch.manual_seed(0)
    rotation = encoding.build(head_dim=DIM // HEADS, num_heads=HEADS, seed=1)
    return SoftmaxOfTwo(DIM, HEADS, rotation, dropout=dropout)


def inputs(length: int = 6) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    key_time = NOW + torch.randint(0, 10**6, (2, length), generator=generator).sort(-1).values
    queries, events = torch.randn(2, 2, length, DIM, generator=generator)
    return queries, events, key_time + 500, key_time


@EVERY
def test_against_loops(encoding: Encoding) -> None:
    attention = made(encoding)
    queries, events, asked, seen = inputs()
    width = DIM // HEADS
    q, k, v = (
        (x @ part.weight.T + part.bias).view(2, 6, HEADS, width).transpose(1, 2).detach()
        for x, part in (
            (queries, attention.query),
            (events, attention.key),
            (events, attention.value),
        )
    )
    q, k = (x.detach() for x in attention.rotation(q, k, asked, seen))
    probability, mixed = torch.zeros(2, HEADS, 6, 6), torch.zeros(2, 6, HEADS, width)
    for row in range(2):
        for head in range(HEADS):
            for i in range(6):
                sizes = [
                    math.exp(float(q[row, head, i] @ k[row, head, j]) / math.sqrt(width))
                    for j in range(i + 1)
                ]
                for j, size in enumerate(sizes):
                    probability[row, head, i, j] = size / sum(sizes)
                    mixed[row, i, head] += size / sum(sizes) * v[row, head, j]
    torch.testing.assert_close(
        attention.probabilities(queries, events, asked, seen), probability, rtol=0, atol=1e-6
    )
    torch.testing.assert_close(attention(queries, events, asked, seen), mixed.flatten(2), rtol=0, atol=1e-6)


@EVERY
def test_the_way_with_dropout_is_the_way_without_it_but_for_what_is_dropped(
    encoding: Encoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rota.attention.softmax_of_two.dropout", lambda x, *_, **__: x)
    attention = made(encoding, dropout=0.5)
    found = []
    for training in (True, False):
        attention.train(training)
        queries, events, asked, seen = inputs()
        queries.requires_grad_(), events.requires_grad_()
        attended = attention(queries, events, asked, seen)
        attended.square().sum().backward()
        found.append((attended, queries.grad, events.grad))
    torch.testing.assert_close(found[0], found[1], rtol=1e-5, atol=1e-6)


def test_dropout_falls_on_probabilities_in_training_alone() -> None:
    """With values that are one another's unit vectors, what comes out is the probabilities."""
    attention = made(NoEncoding(), dropout=0.25)
    with torch.no_grad():
        attention.value = nn.Linear(DIM, DIM, bias=False)
        attention.value.weight.copy_(torch.eye(DIM))
    width = DIM // HEADS
    events = torch.eye(width).repeat(1, HEADS).expand(400, -1, -1)
    queries = inputs(width)[0][:1].expand(400, -1, -1)
    torch.manual_seed(5)
    dropped = attention(queries, events, None, None).detach().unflatten(-1, (HEADS, width)).transpose(1, 2)
    whole = attention.probabilities(queries, events, None, None).detach()
    kept = dropped > 0
    torch.testing.assert_close(dropped[kept], whole[kept] / 0.75)
    seen = whole > 0
    assert float(kept[seen].float().mean()) == pytest.approx(0.75, abs=0.01)
    attention.eval()
    evaluated = attention(queries, events, None, None).unflatten(-1, (HEADS, width)).transpose(1, 2)
    torch.testing.assert_close(evaluated, whole)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="embedding_dim 16: expected a multiple of num_heads 3"):
        SoftmaxOfTwo(DIM, 3, NoEncoding().build(head_dim=4, num_heads=3))
    queries, events, _, _ = inputs()
    with pytest.raises(InputError, match="needs the time of each query"):
        made(ClockRoPE())(queries, events, None, None)
