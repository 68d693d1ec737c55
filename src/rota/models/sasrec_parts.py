"""What SASRec and TiSASRec share: input, norm, the half of a block after attention, and the start."""

import math
from collections.abc import Sequence

from torch import Tensor, nn

from rota.attention.dropout import Dropout
from rota.batch import TimeAccess
from rota.encodings.inputs import InputRecipe
from rota.models.event_input import EventInput, time_features

__all__: list[str] = []

_LEAST_VARIANCE = 1e-8  # of the published code
_ITEM_STD = 0.02  # what Glorot's law gives a catalogue of some thousands


def normed(embedding_dim: int) -> nn.LayerNorm:
    """Norm of SASRec's published code."""
    return nn.LayerNorm(embedding_dim, eps=_LEAST_VARIANCE)


class PointWise(nn.Module):
    """``y + dropout(W_2 dropout(ReLU(W_1 y + b_1)) + b_2)`` with ``y = LN(x)`` (SASRec's code; its Eq. 5).

    The residual lands on the normed value.
    """

    def __init__(self, embedding_dim: int, dropout: float) -> None:
        super().__init__()
        self.norm = normed(embedding_dim)
        self.maps = nn.Sequential(
            nn.Linear(embedding_dim, embedding_dim),
            nn.ReLU(),
            Dropout(dropout),
            nn.Linear(embedding_dim, embedding_dim),
            Dropout(dropout),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Transform features of shape ``(batch, length, embedding_dim)``."""
        y = self.norm(x)
        added: Tensor = y + self.maps(y)
        return added


def start_from_glorot(*modules: nn.Module) -> None:
    """Draw all maps within from Glorot's uniform law, with biases of 0, as the published code does.

    Name what has maps of its own; a rotation that learns has a start of its own.
    """
    for module in modules:
        for part in module.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)
                nn.init.zeros_(part.bias)


def scaled_input(
    num_items: int,
    embedding_dim: int,
    *,
    unit: str,
    access: TimeAccess,
    places: int,
    inputs: Sequence[InputRecipe],
    dropout: float,
) -> EventInput:
    """Items times ``sqrt(embedding_dim)``, with what is added to them drawn as large as they then are.

    Args:
        num_items: Size of the catalogue.
        embedding_dim: Width.
        unit: Unit of the clock.
        access: What may be known of the clock; with ``none`` there are no features of time.
        places: Learned vectors of positions; 0 for none.
        inputs: Features of time.
        dropout: On the sum.
    """
    scale = math.sqrt(embedding_dim)
    items = nn.Embedding(num_items, embedding_dim)
    nn.init.normal_(items.weight, std=_ITEM_STD)
    seen = inputs if access != TimeAccess.NONE else ()
    features = time_features(seen, embedding_dim, unit, scale * _ITEM_STD)
    positions = nn.Embedding(places, embedding_dim) if places else None
    if positions is not None:
        nn.init.normal_(positions.weight, std=scale * _ITEM_STD)
    return EventInput(items, positions, features, dropout=dropout, scale=scale)
