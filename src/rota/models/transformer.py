"""Transformer: a causal pre-norm transformer over items, with an injected encoding of time or position."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rota.attention.softmax import SoftmaxAttention
from rota.batch import Batch, TimeAccess
from rota.encodings.base import Encoding, Rotation
from rota.encodings.calendar import Calendar
from rota.encodings.none import NoEncoding
from rota.errors import InputError
from rota.models.base import Model, Network

_EMBEDDING_STD = 0.02  # small, so that what layers add is heard from the first steps


class Block(nn.Module):
    """Attention and a feed-forward layer, each on the normed input and added to it."""

    def __init__(self, embedding_dim: int, num_heads: int, rotation: Rotation, dropout: float) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(embedding_dim)
        self.attention = SoftmaxAttention(embedding_dim, num_heads, rotation)
        self.feed_norm = nn.LayerNorm(embedding_dim)
        self.feed = nn.Sequential(
            nn.Linear(embedding_dim, 4 * embedding_dim),
            nn.GELU(),
            nn.Linear(4 * embedding_dim, embedding_dim),
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None) -> Tensor:
        """Transform features of shape ``(batch, length, embedding_dim)``."""
        x = x + self.dropout(self.attention(self.attention_norm(x), query_time, key_time))
        added: Tensor = x + self.dropout(self.feed(self.feed_norm(x)))
        return added


class TransformerNetwork(Network):
    """A causal pre-norm transformer; what it knows of the clock enters by its rotations and the calendar."""

    def __init__(
        self, recipe: "Transformer", num_items: int, unit: str, access: TimeAccess, seed: int
    ) -> None:
        super().__init__()
        dim = recipe.embedding_dim
        self.max_len = recipe.max_len
        self.time_access = access
        self.needs_clock = access != TimeAccess.NONE
        self.items = nn.Embedding(num_items, dim)
        nn.init.normal_(self.items.weight, std=_EMBEDDING_STD)
        self.calendar = Calendar().build(dim, unit) if self.needs_clock else None
        if self.calendar is not None:
            for table in self.calendar.children():
                nn.init.normal_(table.weight, std=_EMBEDDING_STD)  # type: ignore[arg-type]
        self.dropout = nn.Dropout(recipe.dropout)
        self.blocks = nn.ModuleList(
            Block(dim, recipe.num_heads, recipe.rotation(layer, unit, seed), recipe.dropout)
            for layer in range(recipe.num_layers)
        )
        self.norm = nn.LayerNorm(dim)

    def forward(self, batch: Batch) -> Float[Tensor, "batch length embedding_dim"]:
        """Features of every position: what it knows of the event after it."""
        x, query_time, key_time = self._embed(batch)
        for block in self.blocks:
            x = block(x, query_time, key_time)
        normed: Tensor = self.norm(x)
        return normed

    @property
    def item_embeddings(self) -> Float[Tensor, "items embedding_dim"]:
        """Embeddings of the catalogue: the same at the input and in the scores."""
        return self.items.weight

    def attention(self, batch: Batch) -> list[Float[Tensor, "batch heads length length"]]:
        """Attention probabilities of each layer, by the plain formula."""
        x, query_time, key_time = self._embed(batch)
        probabilities = []
        for block in self.blocks:
            assert isinstance(block, Block)
            probabilities.append(block.attention.probabilities(block.attention_norm(x), query_time, key_time))
            x = block(x, query_time, key_time)
        return probabilities

    def _embed(self, batch: Batch) -> tuple[Tensor, Tensor | None, Tensor | None]:
        if self.needs_clock and batch.key_time is None:
            raise InputError(
                "the model was built to see times and the batch has none: collate with its time access"
            )
        x = self.items(batch.items)
        if self.calendar is None:
            return self.dropout(x), None, None
        x = x + self.calendar(batch.key_time, batch.query_time)
        return self.dropout(x), batch.query_time, batch.key_time


@dataclass(frozen=True)
class Transformer(Model):
    """Recipe of the network.

    Where time access allows, the hour and weekday of each query's time, and of each event's own, are added to
    the items' embeddings, the same for every encoding.

    Attributes:
        encoding: Of time or position, in every layer.
        embedding_dim: Width.
        num_layers: Blocks.
        num_heads: Heads of each block.
        max_len: Most recent events that it looks at.
        dropout: On the embeddings and on what each layer adds.
    """

    encoding: Encoding = NoEncoding()  # noqa: RUF009 - frozen
    embedding_dim: int = 64
    num_layers: int = 2
    num_heads: int = 2
    max_len: int = 100
    dropout: float = 0.2

    def __post_init__(self) -> None:
        for name in ("embedding_dim", "num_layers", "num_heads", "max_len"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} {getattr(self, name)}: expected a whole number of at least 1")
        if self.embedding_dim % self.num_heads:
            raise InputError(
                f"embedding_dim {self.embedding_dim}: expected a multiple of num_heads {self.num_heads}"
            )
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout {self.dropout}: expected a number from 0 up to 1")

    def build(self, *, num_items: int, unit: str, time_access: TimeAccess, seed: int) -> TransformerNetwork:
        """Build the network; its weights and frequencies are functions of the seed.

        Args:
            num_items: Size of the catalogue.
            unit: Unit of the clock: s, ms, us or ns.
            time_access: What it may know of the clock.
            seed: Of the run.

        Raises:
            InputError: The encoding needs a clock and ``time_access`` gives none, or sizes do not fit.
        """
        if self.encoding.needs_clock and time_access == TimeAccess.NONE:
            raise InputError(
                f"{type(self.encoding).__name__} rotates by time, which time access none withholds: "
                "use history or request, or leave the arm out"
            )
        with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
            torch.manual_seed(seed)
            return TransformerNetwork(self, num_items, unit, time_access, seed)

    def with_encoding(self, encoding: Encoding) -> "Transformer":
        """The same network with another encoding."""
        return replace(self, encoding=encoding)

    def rotation(self, layer: int, unit: str, seed: int) -> Rotation:
        """Rotation of one layer."""
        head_dim = self.embedding_dim // self.num_heads
        return self.encoding.build(
            head_dim=head_dim, num_heads=self.num_heads, layer=layer, seed=seed, unit=unit
        )
