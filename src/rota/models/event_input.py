"""EventInput: what a network is told of each event before its first layer."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rota.attention.dropout import Dropout
from rota.batch import Batch
from rota.encodings.inputs import InputFeature, InputRecipe
from rota.errors import InputError

__all__ = ["EventInput"]


class EventInput(nn.Module):
    """Sum of an item's embedding, that of its position where asked for, and features of time; then dropout.

    Attributes:
        items: Embeddings of the catalogue.
        positions: Embeddings of places 0 up to ``max_len - 1``, or ``None``.
        features: Of time.
        scale: Of the item's embedding.
    """

    def __init__(
        self,
        items: nn.Embedding,
        positions: nn.Embedding | None = None,
        features: Sequence[InputFeature] = (),
        *,
        dropout: float,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        self.items, self.positions, self.scale = items, positions, scale
        self.features = nn.ModuleList(features)
        self.dropout = Dropout(dropout)

    def forward(self, batch: Batch) -> Float[Tensor, "batch length embedding_dim"]:
        """Features of each event.

        Raises:
            InputError: A row has more events than there are positions, or a time is missing.
        """
        x = self.items(batch.items)
        x = x if self.scale == 1 else x * self.scale
        if self.positions is not None:
            x = x + self.positions(self._places(batch.items.shape[1], self.positions))
        for feature in self.features:
            x = x + feature(batch.key_time, batch.query_time)
        dropped: Tensor = self.dropout(x)
        return dropped

    def _places(self, length: int, positions: nn.Embedding) -> Tensor:
        if length > positions.num_embeddings:
            raise InputError(
                f"{length} events in a row: the network was built with max_len {positions.num_embeddings}; "
                "pass the last events only"
            )
        return torch.arange(length, device=positions.weight.device)


def time_features(
    recipes: Sequence[InputRecipe], embedding_dim: int, unit: str, spread: float
) -> list[InputFeature]:
    """Features of time, their tables of vectors as small at the start as those of the items.

    Args:
        recipes: What to build, in order.
        embedding_dim: Width of the items' embeddings.
        unit: Unit of the clock.
        spread: Standard deviation of a table's entries.
    """
    features = [recipe.build(embedding_dim, unit) for recipe in recipes]
    for feature in features:
        for table in feature.modules():
            if isinstance(table, nn.Embedding):
                nn.init.normal_(table.weight, std=spread)
    return features
