"""HSTU: pointwise SiLU attention with a gate, a bias by position and time, and an injected encoding."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import silu

from rota.attention.dropout import Dropout
from rota.attention.pointwise import Divisor, PointwiseAttention
from rota.batch import TimeAccess
from rota.encodings.base import Encoding
from rota.encodings.bias import BiasRecipe
from rota.encodings.inputs import InputRecipe
from rota.encodings.none import NoEncoding
from rota.encodings.numerals import require_switch, require_whole, shown
from rota.encodings.time_bias import GapBias, TimeBias
from rota.errors import InputError
from rota.models.base import Model, Network, require_sizes
from rota.models.event_input import EventInput, time_features
from rota.models.repeat_head import RepeatHead
from rota.models.similarity import Similarity

_STD = 0.02  # of the published code
_NORM_EPS = 1e-6  # likewise
_UNLESS = ", or both qk_dim and value_dim, and no repeat head"  # which divides the width among its heads


class HSTULayer(nn.Module):
    """Attention whose sum is normed, gated, projected and added; there is no feed-forward layer.

    With ``u, v, q, k = SiLU(LN(x) W)``: ``y = x + W_o dropout(u * LN(A v)) + b_o``. The norms learn nothing.
    """

    def __init__(self, recipe: "HSTU", attention: PointwiseAttention) -> None:
        super().__init__()
        dim, heads = recipe.embedding_dim, recipe.num_heads
        self.num_heads, self.attention = heads, attention
        self.widths = [heads * width for width in (recipe.value_width, recipe.qk_width) for _ in range(2)]
        self.input_norm = nn.LayerNorm(dim, eps=_NORM_EPS, elementwise_affine=False)
        self.project = nn.Linear(dim, sum(self.widths), bias=False)
        self.sum_norm = nn.LayerNorm(self.widths[0], eps=_NORM_EPS, elementwise_affine=False)
        self.dropout = Dropout(recipe.dropout)
        self.output = nn.Linear(self.widths[0], dim)
        nn.init.normal_(self.project.weight, std=_STD)
        nn.init.xavier_uniform_(self.output.weight)

    def forward(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None, bias: Tensor | None
    ) -> Tensor:
        """Transform features of shape ``(batch, length, embedding_dim)``; ``bias`` is of its attention."""
        gate, v, q, k = self._parts(x)
        v, q, k = (self._heads(part) for part in (v, q, k))
        attended = self.attention(q, k, v, query_time, key_time, bias).transpose(1, 2).flatten(2)
        added: Tensor = x + self.output(self.dropout(gate * self.sum_norm(attended)))
        return added

    def weights(self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None) -> Tensor:
        """What its attention weighs events with, by the plain formula."""
        _, _, q, k = self._parts(x)
        return self.attention.weights(self._heads(q), self._heads(k), query_time, key_time)

    def _parts(self, x: Tensor) -> tuple[Tensor, ...]:
        parts: tuple[Tensor, ...] = silu(self.project(self.input_norm(x))).split(self.widths, -1)
        return parts

    def _heads(self, x: Tensor) -> Tensor:
        heads: Tensor = x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        return heads


class HSTUNetwork(Network):
    """HSTU's layers on items and positions, without a norm after the last."""

    def __init__(self, recipe: "HSTU", num_items: int, unit: str, access: TimeAccess, seed: int) -> None:
        super().__init__(recipe, num_items, unit, access)
        self.blocks = nn.ModuleList(
            HSTULayer(recipe, recipe.attention(layer, unit, seed)) for layer in range(recipe.num_layers)
        )

    def hidden(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> Float[Tensor, "batch length embedding_dim"]:
        """What all layers make of the events."""
        biases = self._biases(x, query_time, key_time)
        for block, bias in zip(self.blocks, biases, strict=True):
            x = block(x, query_time, key_time, bias)
        return x

    def layers(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> list[Float[Tensor, "batch heads length length"]]:
        """Share of each event in a query's weights, by the plain formula, as softmax would have given it.

        HSTU's weights do not sum to one and may be below zero: it is their size that is shared out, and
        where all are zero each event that the query sees has the same. `HSTULayer.weights` are as they are.
        """
        shares = []
        for block in self.blocks:
            assert isinstance(block, HSTULayer)
            sizes = block.weights(x, query_time, key_time).abs()
            sizes = (sizes + torch.finfo(sizes.dtype).tiny).tril()
            shares.append(sizes / sizes.sum(-1, keepdim=True))
            x = block(x, query_time, key_time, None)
        return shares

    def _biases(
        self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None
    ) -> Iterator[Tensor | None]:
        """Bias of each layer; buckets of gaps, which cost more than the rest of them, are found once."""
        place = torch.arange(x.shape[1], device=x.device)
        buckets = None
        for block in self.blocks:
            assert isinstance(block, HSTULayer)
            bias = block.attention.bias
            if isinstance(bias, GapBias):
                buckets = bias.buckets(query_time, key_time) if buckets is None else buckets
                yield bias.of_buckets(buckets, query_time, key_time, place, place)
            else:
                yield None if bias is None else bias(query_time, key_time, place, place)


@dataclass(frozen=True)
class HSTU(Model):
    """Recipe of the network (Zhai et al. 2024), as the research path of its published code has it.

    Events are ``dropout(sqrt(embedding_dim) * item + position)``. Each layer has a bias of pairs of its own;
    by default that of time asks, at time access ``request``, at the time of the event to be predicted, as
    published. A repeat head has the encoding and not the bias.

    Items start from a normal law with standard deviation 0.02 that is cut at two of them, the projection
    from one that is not, the output from Xavier's uniform law, its bias as PyTorch has it. Positions start
    from Xavier's normal law: the published code draws them from a truncated one of ``1/sqrt(embedding_dim)``
    first, and then once more, like all weights outside of its layers.

    Attributes:
        encoding: Of time or position, of queries and keys after their SiLU, in every layer; published none.
        embedding_dim: Width.
        num_layers: Layers.
        num_heads: Heads of each layer.
        max_len: Most recent events that it looks at.
        dropout: On the events and on what each layer adds.
        bias: Added to the logits of pairs: `TimeBias()` by time and position, `TimeBias(position=False)` by
            time alone, `PositionBias()` by position alone, or none, which is kept, and written in a table, as
            ``"none"``. The published code has more distances, those that no two events have.
        qk_dim: Width of queries and keys of a head; by default ``embedding_dim // num_heads``. With
            ``value_dim`` too, the heads need not divide the width: of the published code they are as free.
        value_dim: Of values and of the gate of a head; likewise.
        divisor: What the sum over events is divided by: ``padded``, a constant as published, or ``length``,
            the number of events that a query sees.
        slack: Added to ``max_len`` in the constant, and in the size that the positions' start is scaled for;
            published 11, in RecTools 0.
        inputs: Features of time that are added to the items' embeddings where time access allows.
        position_embedding: A learned vector for each place is added too.
        similarity: How features and items are compared.
        repeat_head: Head by which the next item may come from the user's own history.
    """

    encoding: Encoding = NoEncoding()  # noqa: RUF009 - frozen
    embedding_dim: int = 64
    num_layers: int = 2
    num_heads: int = 2
    max_len: int = 100
    dropout: float = 0.2
    bias: BiasRecipe | Literal["none"] | None = TimeBias()  # noqa: RUF009 - frozen
    qk_dim: int | None = None
    value_dim: int | None = None
    divisor: Divisor | str = Divisor.PADDED
    slack: int = 11
    inputs: tuple[InputRecipe, ...] = ()
    position_embedding: bool = True
    similarity: Similarity = Similarity(normalised=True, temperature=0.05)  # noqa: RUF009 - frozen
    repeat_head: RepeatHead | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))
        object.__setattr__(self, "divisor", Divisor.parse(self.divisor))
        if self.bias is None:  # a table has no word for None but silence, which means the default
            object.__setattr__(self, "bias", "none")
        if self.bias != "none" and not isinstance(self.bias, BiasRecipe):
            raise InputError(
                f"bias {shown(self.bias)} of HSTU: expected a bias of pairs, for instance TimeBias(), or none"
            )
        free = self.repeat_head is None and None not in (self.qk_dim, self.value_dim)
        require_sizes(self, unless=None if free else _UNLESS)
        for name in ("qk_dim", "value_dim"):
            if getattr(self, name) is not None:
                require_whole(getattr(self, name), 1, name, "HSTU")
        require_whole(self.slack, 0, "slack", "HSTU")
        require_switch(self.position_embedding, "position_embedding", "HSTU")

    @property
    def qk_width(self) -> int:
        """Width of queries and keys of a head."""
        return self.qk_dim or self.embedding_dim // self.num_heads

    @property
    def value_width(self) -> int:
        """Width of values of a head."""
        return self.value_dim or self.embedding_dim // self.num_heads

    def clocks(self) -> list[str]:
        """Names of its parts that cannot do without a clock."""
        needy = [type(self.encoding).__name__] if self.encoding.needs_clock else []
        if isinstance(self.bias, BiasRecipe) and self.bias.needs_clock:
            needy.append(type(self.bias).__name__)
        return needy

    def network(self, *, num_items: int, unit: str, time_access: TimeAccess, seed: int) -> HSTUNetwork:
        """Make the network, without its repeat head."""
        return HSTUNetwork(self, num_items, unit, time_access, seed)

    def event_input(self, num_items: int, unit: str, access: TimeAccess) -> EventInput:
        """What it is told of each event."""
        scale = math.sqrt(self.embedding_dim)
        items = nn.Embedding(num_items, self.embedding_dim)
        nn.init.trunc_normal_(items.weight, std=_STD, a=-2 * _STD, b=2 * _STD)
        inputs = self.inputs if access != TimeAccess.NONE else ()
        features = time_features(inputs, self.embedding_dim, unit, scale * _STD)
        positions = None
        if self.position_embedding:
            positions = nn.Embedding(self.max_len, self.embedding_dim)
            spread = math.sqrt(2 / (self.max_len + self.slack + self.embedding_dim))
            nn.init.normal_(positions.weight, std=spread)
        return EventInput(items, positions, features, dropout=self.dropout, scale=scale)

    def attention(self, layer: int, unit: str, seed: int) -> PointwiseAttention:
        """Attention of one layer."""
        rotation = self.rotation(layer, unit, seed, head_dim=self.qk_width)
        bias = None
        if isinstance(self.bias, BiasRecipe):
            bias = self.bias.build(
                max_len=self.max_len, num_heads=self.num_heads, layer=layer, seed=seed, unit=unit
            )
        return PointwiseAttention(
            rotation, bias, max_len=self.max_len, divisor=self.divisor, slack=self.slack
        )
