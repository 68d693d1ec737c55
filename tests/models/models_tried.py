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


def turned(x: Tensor, angles: Tensor) -> Tensor:
    """Each pair ``(a, b)`` of one vector turned: ``(a cos - b sin, a sin + b cos)``.

    Args:
        x: Features of one head of one event, their pairs side by side.
        angles: Of the first pairs, in radians; what is left stays as it is.
    """
    a, b = x[: 2 * len(angles) : 2], x[1 : 2 * len(angles) : 2]
    cos, sin = torch.cos(angles), torch.sin(angles)
    pairs = torch.stack((a * cos - b * sin, a * sin + b * cos), 1)
    return torch.cat((pairs.flatten(), x[2 * len(angles) :]))


def rope_angles(pairs: int, place: int) -> Tensor:
    """``place / 10000^(j / pairs)``."""
    return torch.tensor([place / 10_000 ** (j / pairs) for j in range(pairs)], dtype=torch.float64)


def clock_angles(harmonics: list[int], periods: list[int], time: int) -> Tensor:
    """``2 pi k time / T`` of the harmonics ``k`` of one head, and of their periods ``T``."""
    turns = [k * time / period for k, period in zip(harmonics, periods, strict=True)]
    return torch.tensor(turns, dtype=torch.float64) * (2 * math.pi)


def trope_angles(coefficients: Tensor, time: int) -> Tensor:
    """``alpha_j time / beta_j`` with ``beta`` geometric from 100 s to 1e8 s."""
    last = len(coefficients) - 1
    return torch.stack([alpha * time / (100 * 1e6 ** (j / last)) for j, alpha in enumerate(coefficients)])


def angles_of(name: str, held: Weights, where: str, whose: str, head: int, place: int, time: int) -> Tensor:
    """By how much one head of a query or a key of 4 pairs is turned.

    Args:
        name: Of the encoding: none, rope, clock, rope+clock or trope.
        held: The network's parameters and draws by name.
        where: Name of the rotation among them.
        whose: query or key.
        head: Which.
        place: Of the event.
        time: At which it asks, or of the event itself.
    """
    if name == "none":
        return torch.zeros(0, dtype=torch.float64)
    if name == "rope":
        return rope_angles(4, place)
    if name == "trope":
        return (1 if whose == "query" else -1) * trope_angles(held[f"{where}.{whose}_coefficients"], time)
    part = where if name == "clock" else f"{where}.parts.1"
    harmonics, periods = held[f"{part}.harmonics"][head].tolist(), held[f"{part}.periods"].tolist()
    clock = clock_angles(harmonics, periods, time)
    return clock if name == "clock" else torch.cat((rope_angles(2, place), clock))


def same_both_ways(
    network: Network,
    batch: Batch,
    slowly: Callable[[Weights, int], Tensor],
    near: float = 1e-10,
) -> None:
    """Logits of real events, the scores, and the gradient of every weight are those of the equations.

    Args:
        network: Without a repeat head, in float64.
        batch: What it is asked.
        slowly: Features of one row, shape ``(length of the row, embedding_dim)``, of the weights and draws
            by name.
        near: How closely, beside what is largest.
    """
    weights = dict(network.named_parameters())
    held = {**network.state_dict(), **weights}
    mine = (network(batch).features @ network.item_embeddings.T)[batch.mask]
    rows = [slowly(held, row) @ held["events.items.weight"].T for row in range(len(batch.lengths))]
    theirs = torch.cat(rows)
    close(mine, theirs, near, "logits")
    close(network.scores(batch), torch.stack([row[-1] for row in rows]), near, "scores")
    aim = torch.randn(mine.shape, generator=torch.Generator().manual_seed(1), dtype=mine.dtype)
    sides = [
        torch.autograd.grad((side * aim).sum(), list(weights.values()), allow_unused=True)
        for side in (mine, theirs)
    ]
    for name, one, two in zip(weights, *sides, strict=True):
        assert one is not None, name
        assert two is not None, name
        if name.endswith("_coefficients"):  # of planes whose gradients are as unlike as their frequencies
            one, two = (side * torch.logspace(-7, -1, len(side), dtype=side.dtype) for side in (one, two))
        close(one, two, near, name)


def close(mine: Tensor, theirs: Tensor, near: float, name: str) -> None:
    """The same, but for a part of what is largest."""
    largest = max(1.0, float(theirs.detach().abs().max()))
    torch.testing.assert_close(mine, theirs, rtol=0, atol=near * largest, msg=lambda text: f"{name}: {text}")


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
