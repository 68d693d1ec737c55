"""Attention with vectors of relative time intervals and of positions, in memory linear in length."""

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from rota.attention.dropout import dropout
from rota.attention.interval_lengths import smallest_gaps
from rota.attention.interval_tables import IntervalVectors
from rota.attention.interval_weights import Parts, weights_and_intervals
from rota.encodings.base import require_time
from rota.encodings.numerals import require_whole
from rota.errors import InputError


class IntervalAttention(nn.Module):
    """Multi-head attention of each position over itself and what came before (TiSASRec, Li et al. 2020).

    A query's key and value of an event are the event's own, plus those of its position, plus those of its
    interval to the query. The last are never formed for pairs: a query meets each of the
    ``num_intervals + 1`` keys once, and what attention falls on an interval is summed before it meets that
    interval's value. Queries go in blocks, which backward computes again: memory grows with
    ``block x (length + num_intervals)`` and ``length x width``, and not with ``length x length``.

    As published, queries are of one input, keys and values of another, and no map comes after the heads.

    Attributes:
        dropout: Of the attention probabilities.
        block: Queries computed at a time.
    """

    def __init__(
        self,
        embedding_dim: int,
        num_heads: int,
        *,
        dropout: float = 0.0,
        block: int = 128,
    ) -> None:
        super().__init__()
        require_whole(num_heads, 1, "num_heads")
        require_whole(embedding_dim, 1, "embedding_dim")
        require_whole(block, 1, "block")
        if embedding_dim % num_heads:
            raise InputError(f"embedding_dim {embedding_dim}: expected a multiple of num_heads {num_heads}")
        self.num_heads, self.dropout, self.block = num_heads, dropout, block
        self.query = nn.Linear(embedding_dim, embedding_dim)
        self.key = nn.Linear(embedding_dim, embedding_dim)
        self.value = nn.Linear(embedding_dim, embedding_dim)

    def forward(
        self,
        queries: Float[Tensor, "batch length embedding_dim"],
        events: Float[Tensor, "batch length embedding_dim"],
        vectors: IntervalVectors,
        query_time: Int64[Tensor, "batch length"] | None,
        key_time: Int64[Tensor, "batch length"] | None,
        mask: Bool[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """Attend.

        Args:
            queries: What asks; as published, the normed features.
            events: What is asked; as published, the features before the norm.
            vectors: Of intervals and positions, which `IntervalTables` give.
            query_time: Time at which each position asks, in clock ticks.
            key_time: Time of each event, oldest first, in clock ticks.
            mask: False in the padding, which no event then sees. Padding on the right needs none.

        Raises:
            InputError: A time is missing or not one for each event, or the vectors are of another length or
                width.
        """
        parts = self._parts(queries, events, vectors, query_time, key_time, mask)
        length, attended = queries.shape[1], []
        for start in range(0, length, self.block):
            rows = start, min(start + self.block, length)
            if length > self.block and torch.is_grad_enabled():
                attended.append(checkpoint(self._attended, parts, *rows, use_reentrant=False))
            else:
                attended.append(self._attended(parts, *rows))
        return torch.cat(attended, 2).transpose(1, 2).flatten(2)

    def probabilities(
        self,
        queries: Float[Tensor, "batch length embedding_dim"],
        events: Float[Tensor, "batch length embedding_dim"],
        vectors: IntervalVectors,
        query_time: Int64[Tensor, "batch length"] | None,
        key_time: Int64[Tensor, "batch length"] | None,
        mask: Bool[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch heads length length"]:
        """Attention of each query (third axis) over the keys (last axis); all pairs at once."""
        parts = self._parts(queries, events, vectors, query_time, key_time, mask)
        return weights_and_intervals(parts, 0, queries.shape[1])[0]

    def _parts(
        self,
        queries: Tensor,
        events: Tensor,
        vectors: IntervalVectors,
        query_time: Tensor | None,
        key_time: Tensor | None,
        mask: Tensor | None,
    ) -> Parts:
        asked = require_time(query_time, "interval attention", "query")
        seen = require_time(key_time, "interval attention", "key")
        for time, whose in ((asked, "query"), (seen, "key")):
            if time.shape != events.shape[:2]:
                raise InputError(
                    f"{whose} time of shape {tuple(time.shape)} and events of shape {tuple(events.shape)}: "
                    f"interval attention expects (batch, length) {tuple(events.shape[:2])}; pass one time "
                    "for each event"
                )
        if vectors.position_keys.shape != events.shape[1:]:
            raise InputError(
                f"vectors of positions of shape {tuple(vectors.position_keys.shape)} and events of shape "
                f"{tuple(events.shape)}: expected (length, embedding_dim); ask the tables for this length"
            )
        return Parts(
            self._heads(self.query(queries)),
            self._heads(self.key(events) + vectors.position_keys),
            self._heads(self.value(events) + vectors.position_values),
            self._heads(vectors.interval_keys),
            self._heads(vectors.interval_values),
            asked,
            seen,
            smallest_gaps(seen),
            mask,
        )

    def _heads(self, x: Tensor) -> Tensor:
        heads: Tensor = x.unflatten(-1, (self.num_heads, -1)).transpose(-2, -3)
        return heads

    def _attended(self, parts: Parts, start: int, stop: int) -> Tensor:
        weights, intervals = weights_and_intervals(parts, start, stop)
        weights = dropout(weights, self.dropout, training=self.training)
        buckets = parts.interval_values.shape[-2]
        mass = weights.new_zeros((*weights.shape[:-1], buckets)).scatter_add(-1, intervals, weights)
        v = parts.v[:, :, :stop]
        attended: Tensor = weights.to(v.dtype) @ v + mass.to(v.dtype) @ parts.interval_values
        return attended
