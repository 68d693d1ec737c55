"""IntervalTables: learned vectors of time intervals and of positions, which the layers of a model share."""

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from rota.attention.dropout import Dropout
from rota.encodings.numerals import require_whole
from rota.errors import InputError


class IntervalVectors(NamedTuple):
    """What `IntervalTables` give the layers of a model in one pass.

    Attributes:
        interval_keys: Added to the keys of pairs, shape ``(num_intervals + 1, embedding_dim)``.
        interval_values: Added to the values of pairs, likewise.
        position_keys: Added to the keys of events, shape ``(length, embedding_dim)``.
        position_values: Added to the values of events, likewise.
    """

    interval_keys: Tensor
    interval_values: Tensor
    position_keys: Tensor
    position_values: Tensor


class IntervalTables(nn.Module):
    """Vectors of intervals and of positions, for keys and for values (TiSASRec, Li et al. 2020).

    A model holds one, and gives all its layers what one call returns.

    Attributes:
        num_intervals: Largest interval; longer ones are taken for it.
        max_len: Events that a row holds at most.
        interval_keys: Shape ``(num_intervals + 1, embedding_dim)``.
        interval_values: Likewise.
        position_keys: Shape ``(max_len, embedding_dim)``.
        position_values: Likewise.
        dropout: On the vectors, for a whole batch alike. The published code drops features anew for each
            pair, which needs a vector for each pair.
    """

    def __init__(
        self, embedding_dim: int, *, max_len: int, num_intervals: int = 256, dropout: float = 0.0
    ) -> None:
        super().__init__()
        require_whole(max_len, 1, "max_len")
        require_whole(num_intervals, 1, "num_intervals")
        self.max_len, self.num_intervals = max_len, num_intervals
        self.interval_keys = _table(num_intervals + 1, embedding_dim)
        self.interval_values = _table(num_intervals + 1, embedding_dim)
        self.position_keys = _table(max_len, embedding_dim)
        self.position_values = _table(max_len, embedding_dim)
        self.dropout = Dropout(dropout)

    def forward(self, length: int) -> IntervalVectors:
        """Vectors of all intervals and of the first positions, once for all layers, as published.

        Raises:
            InputError: There are fewer positions.
        """
        if length > self.max_len:
            raise InputError(
                f"{length} events in a row: the tables were built with max_len {self.max_len}; build them "
                "with more, or pass the last events only"
            )
        return IntervalVectors(
            self.dropout(self.interval_keys),
            self.dropout(self.interval_values),
            self.dropout(self.position_keys[:length]),
            self.dropout(self.position_values[:length]),
        )

    if TYPE_CHECKING:  # nn.Module's own says Any
        __call__ = forward


def _table(rows: int, width: int) -> nn.Parameter:
    return nn.Parameter(nn.init.normal_(torch.empty(rows, width), std=0.02))
