"""Features of the clock, projected to the width of the items' embeddings."""

import torch
from torch import Tensor, nn

from rota.encodings.numerals import require_whole

__all__: list[str] = []

START = 0.02  # as small as the items' embeddings at the start


def projection(count: int, embedding_dim: int) -> nn.Linear:
    """Learned map without bias from features of an event and of its query, ``count`` each.

    To append features to an embedding and map both is to map each and add: what the papers call input
    features is so the same for every model.

    Raises:
        InputError: The width is under 1.
    """
    require_width(embedding_dim)
    linear = nn.Linear(2 * count, embedding_dim, bias=False)
    nn.init.normal_(linear.weight, std=START)
    return linear


def projected(linear: nn.Linear, event: Tensor, query: Tensor) -> Tensor:
    """Project features of shape ``(batch, length, count)``; the weights' type rounds them, not before."""
    features: Tensor = linear(torch.cat((event, query), -1).to(linear.weight.dtype))
    return features


def require_width(embedding_dim: int) -> None:
    """Refuse an embedding of no width.

    Raises:
        InputError: It is no whole number of at least 1.
    """
    require_whole(embedding_dim, 1, "embedding_dim")
