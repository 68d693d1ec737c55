"""Rows to try models with, and the plain parts of which their equations are written out."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from rota.batch import Batch, Window, collate
from rota.models import Network

ITEMS, NOW = 30, 1_700_000_000
Weights = dict[str, Tensor]


def window(length: int, seed: int, items: int = ITEMS) -> Window:
    """A user's events at random times within four months, each asking at the time of the next."""
    rng = np.random.default_rng(seed)
    times = NOW + np.sort(rng.integers(0, 10**7, length + 1))
    return Window(rng.integers(0, items, length), times[:-1], times[1:])


def spread_out(network: Network) -> Network:
    """In float64, with weights so large and so unlike that a mistake shows."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in network.double().parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.3)
    return network.eval()


def norm(x: Tensor, weights: Weights, name: str, eps: float) -> Tensor:
    """``(x - mean) / sqrt(variance + eps) * weight + bias`` of one vector, the variance over all of it."""
    centred = x - x.sum() / len(x)
    scaled = centred / torch.sqrt((centred * centred).sum() / len(x) + eps)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def mapped(x: Tensor, weights: Weights, name: str) -> Tensor:
    """``W x + b`` of one vector, or without ``b``."""
    bias = weights.get(f"{name}.bias")
    product = weights[f"{name}.weight"] @ x
    return product if bias is None else product + bias


def softmax_mix(logits: list[Tensor], values: list[Tensor]) -> Tensor:
    """Values by the softmax of their logits."""
    sizes = [torch.exp(logit - max(float(other.detach()) for other in logits)) for logit in logits]
    return sum((size * value for size, value in zip(sizes, values, strict=True)), 0 * values[0]) / sum(sizes)


def heads_of(x: Tensor, heads: int) -> list[Tensor]:
    """Consecutive parts of a vector."""
    width = len(x) // heads
    return [x[head * width : (head + 1) * width] for head in range(heads)]


def same_both_ways(network: Network, batch: Batch, slowly: Callable[[Weights, int], Tensor]) -> None:
    """Hidden features of real events, and the gradient of every weight, are those of the equations.

    Args:
        network: Without a repeat head, in float64.
        batch: What it is asked.
        slowly: Features of one row, shape ``(length of the row, embedding_dim)``, of the weights by name.
    """
    weights = dict(network.named_parameters())
    mine = network(batch).features[batch.mask]
    theirs = torch.cat([slowly(weights, row) for row in range(len(batch.lengths))])
    torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-10)
    aim = torch.randn(mine.shape, generator=torch.Generator().manual_seed(1), dtype=mine.dtype)
    sides = [
        torch.autograd.grad((side * aim).sum(), list(weights.values()), allow_unused=True)
        for side in (mine, theirs)
    ]
    for name, one, two in zip(weights, *sides, strict=True):
        assert one is not None, name
        assert two is not None, name
        torch.testing.assert_close(one, two, rtol=1e-8, atol=1e-9, msg=lambda text, n=name: f"{n}: {text}")


def feed_forward(x: Tensor, weights: Weights, block: str) -> Tensor:
    """SASRec's ``y + W_2 ReLU(W_1 y + b_1) + b_2`` of ``y = LN(x)``."""
    y = norm(x, weights, f"{block}.feed.norm", 1e-8)
    inner = mapped(y, weights, f"{block}.feed.maps.0")
    inner = torch.where(inner > 0, inner, torch.zeros_like(inner))
    return y + mapped(inner, weights, f"{block}.feed.maps.3")


def scaled_items(weights: Weights, items: list[int]) -> list[Tensor]:
    """``sqrt(d) E[item]`` of each event."""
    table = weights["events.items.weight"]
    return [table[item] * math.sqrt(table.shape[1]) for item in items]


def some(access: str, lengths: tuple[int, ...] = (5, 1, 7), items: int = ITEMS) -> Batch:
    """Rows of different lengths."""
    return collate([window(length, seed, items) for seed, length in enumerate(lengths)], access)
