"""Causal softmax attention whose queries are of one input and whose keys and values are of another."""

import math

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from rota.attention.dropout import dropout
from rota.encodings.base import Rotation
from rota.errors import InputError


class SoftmaxOfTwo(nn.Module):
    """Multi-head attention of each position over itself and what came before (SASRec, Kang & McAuley 2018).

    As in SASRec's published code, queries are of one input, keys and values of another, no map comes after
    the heads, and dropout falls on the probabilities. `SoftmaxAttention` is the transformer's.

    Padding on the right needs no mask of its own: no real query can see it.

    Attributes:
        rotation: Encoding of time or position; published none.
        dropout: Of the attention probabilities.
    """

    def __init__(
        self, embedding_dim: int, num_heads: int, rotation: Rotation, *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if embedding_dim % num_heads:
            raise InputError(f"embedding_dim {embedding_dim}: expected a multiple of num_heads {num_heads}")
        self.num_heads, self.rotation, self.dropout = num_heads, rotation, dropout
        self.query = nn.Linear(embedding_dim, embedding_dim)
        self.key = nn.Linear(embedding_dim, embedding_dim)
        self.value = nn.Linear(embedding_dim, embedding_dim)

    def forward(
        self,
        queries: Float[Tensor, "batch length embedding_dim"],
        events: Float[Tensor, "batch length embedding_dim"],
        query_time: Int64[Tensor, "batch length"] | None,
        key_time: Int64[Tensor, "batch length"] | None,
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """Attend.

        Args:
            queries: What asks; in SASRec the normed features.
            events: What is asked; in SASRec the features before the norm.
            query_time: Time at which each position asks, clock ticks; ``None`` without a clock.
            key_time: Time of each event, likewise.

        Raises:
            InputError: A time is missing that the rotation needs, or features do not fit.
        """
        q, k = self._rotated(queries, events, query_time, key_time)
        v = self._heads(self.value(events))
        dropped = self.dropout if self.training else 0.0
        if dropped and q.device.type == "cpu":  # where PyTorch has no kernel that drops either
            attended = dropout(_probabilities(q, k), dropped, training=True) @ v
        else:
            attended = scaled_dot_product_attention(q, k, v, dropout_p=dropped, is_causal=True)
        return attended.transpose(1, 2).flatten(2)

    def probabilities(
        self,
        queries: Float[Tensor, "batch length embedding_dim"],
        events: Float[Tensor, "batch length embedding_dim"],
        query_time: Int64[Tensor, "batch length"] | None,
        key_time: Int64[Tensor, "batch length"] | None,
    ) -> Float[Tensor, "batch heads length length"]:
        """Attention of each query (third axis) over the keys (last axis), by the plain formula."""
        return _probabilities(*self._rotated(queries, events, query_time, key_time))

    def _rotated(
        self, queries: Tensor, events: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        q, k = self._heads(self.query(queries)), self._heads(self.key(events))
        return self.rotation(q, k, query_time, key_time)

    def _heads(self, x: Tensor) -> Tensor:
        heads: Tensor = x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        return heads


def _probabilities(q: Tensor, k: Tensor) -> Tensor:
    """Of each query over itself and earlier keys, shape ``(batch, heads, length, length)``."""
    batch, heads, length, width = q.shape
    future = torch.full((length, length), -math.inf, dtype=q.dtype, device=q.device).triu(1)
    flat = torch.baddbmm(future, q.flatten(0, 1), k.flatten(0, 1).mT, alpha=1 / math.sqrt(width))
    return flat.softmax(-1).view(batch, heads, length, length)
