"""Causal softmax attention that takes any rotation."""

import math

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from rota.encodings.base import Rotation
from rota.errors import InputError


class SoftmaxAttention(nn.Module):
    """Multi-head attention of each position over itself and what came before.

    Padding on the right needs no mask of its own: no real query can see it.

    Attributes:
        rotation: Encoding of time or position; knows nothing of attention, as attention knows nothing of it.
    """

    def __init__(self, embedding_dim: int, num_heads: int, rotation: Rotation) -> None:
        super().__init__()
        if embedding_dim % num_heads:
            raise InputError(f"embedding_dim {embedding_dim}: expected a multiple of num_heads {num_heads}")
        self.num_heads = num_heads
        self.project = nn.Linear(embedding_dim, 3 * embedding_dim)
        self.output = nn.Linear(embedding_dim, embedding_dim, bias=False)
        self.rotation = rotation

    def forward(
        self,
        x: Float[Tensor, "batch length embedding_dim"],
        query_time: Int64[Tensor, "batch length"] | None,
        key_time: Int64[Tensor, "batch length"] | None,
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """Attend; times are int64 clock ticks, shape ``(batch, length)``."""
        q, k, v = self._heads(x, query_time, key_time)
        attended = scaled_dot_product_attention(q, k, v, is_causal=True)
        merged: Tensor = self.output(attended.transpose(1, 2).flatten(2))
        return merged

    def probabilities(
        self,
        x: Float[Tensor, "batch length embedding_dim"],
        query_time: Int64[Tensor, "batch length"] | None,
        key_time: Int64[Tensor, "batch length"] | None,
    ) -> Float[Tensor, "batch heads length length"]:
        """Attention of each query (third axis) over the keys (last axis), by the plain formula."""
        q, k, _ = self._heads(x, query_time, key_time)
        logits = q @ k.mT / math.sqrt(q.shape[-1])
        future = torch.ones(logits.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
        return logits.masked_fill(future, -math.inf).softmax(-1)

    def _heads(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = self.project(x).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        q, k = self.rotation(q, k, query_time, key_time)
        return q, k, v
