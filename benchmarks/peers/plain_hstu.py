"""HSTU as one would write it down from its published code: dense, padded, all pairs of a layer in memory.

No line of it is the published code's or rota's. `as_rota` gives it the weights of a rota network, so that
`training.py` can check that both say the same before it times them.
"""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, silu

from rota.models.hstu import HSTUNetwork
from rota.training import TrainingWindows

SLACK, BUCKETS, TEMPERATURE = 11, 128, 0.05


class PlainBias(nn.Module):
    """Bias of all pairs by distance and by bucket of the gap, computed anew in each layer."""

    def __init__(self, places: int) -> None:
        super().__init__()
        self.position = nn.Parameter(0.02 * torch.randn(2 * places - 1))
        self.time = nn.Parameter(0.02 * torch.randn(BUCKETS + 1))

    def forward(self, times: Tensor) -> Tensor:
        """Shape ``(batch, places, places)``; a query stands at the next event's time."""
        places = times.shape[1]
        asked = torch.cat((times[:, 1:], times[:, -1:]), 1)
        gap = (asked[:, :, None] - times[:, None, :]).abs().clamp(min=1)
        bucket = (gap.log() / 0.301).long().clamp(0, BUCKETS)
        at = torch.arange(places)
        distance = at[None, :] - at[:, None] + places - 1
        return self.position[distance] + self.time[bucket]


class PlainLayer(nn.Module):
    """Attention by SiLU, gated; see peers.md, or the paper's Eq. 1 to 3."""

    def __init__(self, dim: int, heads: int, places: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.places = heads, places
        self.uvqk = nn.Parameter(0.02 * torch.randn(dim, 4 * dim))
        self.input_norm = nn.LayerNorm(dim, eps=1e-6, elementwise_affine=False)
        self.sum_norm = nn.LayerNorm(dim, eps=1e-6, elementwise_affine=False)
        self.bias, self.dropout, self.output = PlainBias(places), nn.Dropout(dropout), nn.Linear(dim, dim)

    def forward(self, x: Tensor, times: Tensor, mask: Tensor) -> Tensor:
        """Transform features of shape ``(batch, places, dim)``."""
        rows, places, dim = x.shape
        u, v, q, k = silu(self.input_norm(x) @ self.uvqk).chunk(4, -1)
        q, k, v = (part.view(rows, places, self.heads, -1) for part in (q, k, v))
        weights = torch.einsum("bihd,bjhd->bhij", q, k) + self.bias(times)[:, None]
        weights = silu(weights) / self.places * mask
        summed = torch.einsum("bhij,bjhd->bihd", weights, v).reshape(rows, places, dim)
        return self.output(self.dropout(u * self.sum_norm(summed))) + x


class PlainHSTU(nn.Module):
    """Items are counted from 1; 0 is padding."""

    def __init__(self, items: int, dim: int, heads: int, layers: int, max_len: int, dropout: float) -> None:
        super().__init__()
        places = max_len + SLACK
        self.items = nn.Embedding(items + 1, dim, padding_idx=0)
        self.positions = nn.Embedding(places, dim)
        self.dropout, self.scale = nn.Dropout(dropout), math.sqrt(dim)
        self.layers = nn.ModuleList(PlainLayer(dim, heads, places, dropout) for _ in range(layers))
        self.register_buffer("mask", torch.ones(places, places).tril())

    def forward(self, ids: Tensor, times: Tensor) -> Tensor:
        """Unit vectors of every place, shape ``(batch, places, dim)``."""
        valid = (ids > 0)[..., None]
        x = self.dropout(self.scale * self.items(ids) + self.positions.weight) * valid
        for layer in self.layers:
            x = layer(x, times, self.mask) * valid
        return normalize(x, dim=-1, eps=1e-6)


def sampled_softmax(model: PlainHSTU, features: Tensor, targets: Tensor, negatives: Tensor) -> Tensor:
    """The published loss of some positions: features ``(n, dim)``, negatives ``(n, R)``."""
    own = (features * normalize(model.items(targets), dim=-1, eps=1e-6)).sum(-1, keepdim=True)
    others = normalize(model.items(negatives), dim=-1, eps=1e-6)
    against = torch.einsum("nd,nrd->nr", features, others)
    against = against.masked_fill(negatives == targets[:, None], -5e4 * TEMPERATURE)
    logits = torch.cat((own, against), 1) / TEMPERATURE
    return -logits.log_softmax(1)[:, 0].mean()


def padded(windows: TrainingWindows, rows: np.ndarray, places: int) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, times and targets of some windows, padded as the published code does it, with zeros."""
    ids, times, targets = (torch.zeros(len(rows), places, dtype=torch.int64) for _ in range(3))
    histories = windows.histories
    for row, window in enumerate(rows):
        start, length = windows.starts[window], windows.lengths[window]
        span = slice(start, start + length)
        ids[row, :length] = torch.from_numpy(histories.items[span] + 1)
        times[row, : length + 1] = torch.from_numpy(histories.times[start : start + length + 1])
        targets[row, :length] = torch.from_numpy(histories.items[start + 1 : start + length + 1] + 1)
    return ids, times, targets


def batches(windows: TrainingWindows, size: int, places: int, seed: int) -> Iterator[tuple[Tensor, ...]]:
    """An epoch in random order."""
    order = np.random.default_rng(seed).permutation(len(windows))
    for some in np.split(order, range(size, len(order), size)):
        yield padded(windows, some, places)


def as_rota(plain: PlainHSTU, network: HSTUNetwork, max_len: int) -> None:
    """Take over the weights of a rota network of the same sizes."""
    with torch.no_grad():
        plain.items.weight[1:] = network.events.items.weight
        plain.positions.weight.zero_()
        plain.positions.weight[:max_len] = network.events.positions.weight
        for mine, block in zip(plain.layers, network.blocks, strict=True):
            mine.uvqk.copy_(block.project.weight.T)
            mine.output.load_state_dict(block.output.state_dict())
            bias = block.attention.bias
            mine.bias.time[: len(bias.weight)] = bias.weight
            mine.bias.position.zero_()
            mine.bias.position[SLACK : SLACK + 2 * max_len - 1] = bias.position.weight
