"""Causal softmax attention against loops, with every encoding."""

import math

import pytest
import torch
from torch import Tensor

from rota.attention import SoftmaxAttention
from rota.encodings import ClockRoPE, NoEncoding, RoPE, Split, TRoPE
from rota.encodings.base import Encoding
from rota.errors import InputError

DIM, HEADS, NOW = 16, 2, 1_700_000_000
EVERY = pytest.mark.parametrize(
    "encoding",
    [NoEncoding(), RoPE(), ClockRoPE(), TRoPE(), Split([RoPE(), ClockRoPE()])],
    ids=["none", "rope", "clock", "trope", "split"],
)


def made(encoding: Encoding) -> SoftmaxAttention:
    torch.manual_seed(0)
    return SoftmaxAttention(DIM, HEADS, encoding.build(head_dim=DIM // HEADS, num_heads=HEADS, seed=1))


def inputs(length: int = 6) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    key_time = NOW + torch.randint(0, 10**6, (2, length), generator=generator).sort(-1).values
    return torch.randn(2, length, DIM, generator=generator), key_time + 500, key_time


def slowly(attention: SoftmaxAttention, x: Tensor, asked: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
    """One query, one key, one head at a time."""
    batch, length, _ = x.shape
    width = DIM // HEADS
    rows = x @ attention.project.weight.T + attention.project.bias
    q, k, v = (
        rows[..., i * DIM : (i + 1) * DIM].view(batch, length, HEADS, width).transpose(1, 2) for i in range(3)
    )
    q, k = attention.rotation(q, k, asked, seen)
    probability = torch.zeros(batch, HEADS, length, length)
    mixed = torch.zeros(batch, length, HEADS, width)
    for row in range(batch):
        for head in range(HEADS):
            for i in range(length):
                logits = [
                    float(q[row, head, i].detach() @ k[row, head, j].detach()) / math.sqrt(width)
                    for j in range(i + 1)
                ]
                total = sum(math.exp(logit) for logit in logits)
                for j, logit in enumerate(logits):
                    probability[row, head, i, j] = math.exp(logit) / total
                    mixed[row, i, head] += math.exp(logit) / total * v[row, head, j].detach()
    return probability, mixed.flatten(2) @ attention.output.weight.T


@EVERY
def test_against_loops(encoding: Encoding) -> None:
    attention = made(encoding)
    x, asked, seen = inputs()
    probability, out = slowly(attention, x, asked, seen)
    torch.testing.assert_close(attention.probabilities(x, asked, seen), probability, rtol=0, atol=1e-6)
    torch.testing.assert_close(attention(x, asked, seen), out, rtol=0, atol=1e-6)


@EVERY
def test_rows_sum_to_one_and_nothing_looks_ahead(encoding: Encoding) -> None:
    probability = made(encoding).probabilities(*inputs())
    assert probability.shape == (2, HEADS, 6, 6)
    torch.testing.assert_close(probability.sum(-1), torch.ones(2, HEADS, 6))
    assert (probability.triu(1) == 0).all()
    assert (probability.tril() > 0).sum() == 2 * HEADS * 21


def test_a_single_event_attends_to_itself() -> None:
    attention, (x, asked, seen) = made(ClockRoPE()), inputs(1)
    assert (attention.probabilities(x, asked, seen) == 1).all()
    value = attention.project(x)[..., 2 * DIM :]
    torch.testing.assert_close(attention(x, asked, seen), attention.output(value))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="embedding_dim 16: expected a multiple of num_heads 3"):
        SoftmaxAttention(DIM, 3, NoEncoding().build(head_dim=4, num_heads=3))
    attention, (x, _, _) = made(ClockRoPE()), inputs()
    with pytest.raises(InputError, match="needs the time of each query"):
        attention(x, None, None)
