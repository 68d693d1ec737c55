"""Intervals: the recipe of TiSASRec's attention by time intervals."""

from dataclasses import dataclass

from rota.attention.interval_attention import IntervalAttention
from rota.attention.interval_tables import IntervalTables
from rota.encodings.numerals import is_number, require_whole, shown
from rota.errors import InputError
from rota.tables import Recipe


@dataclass(frozen=True)
class Intervals(Recipe):
    """Attention with vectors of clipped relative time intervals and of positions (TiSASRec, Li et al. 2020).

    A network holds the vectors once, its layers an attention each.

    Attributes:
        num_intervals: Largest interval, in units of a user's own smallest gap; longer ones are taken for it.
        dropout: Of the attention probabilities and of the vectors.
        block: Queries computed at a time: the fewer, the less memory.
    """

    num_intervals: int = 256
    dropout: float = 0.0
    block: int = 128

    def __post_init__(self) -> None:
        require_whole(self.num_intervals, 1, "num_intervals", "Intervals")
        require_whole(self.block, 1, "block", "Intervals")
        if not is_number(self.dropout) or not 0 <= self.dropout < 1:
            raise InputError(
                f"dropout {shown(self.dropout)} of Intervals: expected a number from 0 to below 1"
            )

    def tables(self, embedding_dim: int, *, max_len: int) -> IntervalTables:
        """Vectors of a network, as torch's own generator draws them.

        Args:
            embedding_dim: Width of the items' embeddings.
            max_len: Events that a row holds at most.

        Raises:
            InputError: A size is no whole number of at least 1.
        """
        return IntervalTables(
            embedding_dim, max_len=max_len, num_intervals=self.num_intervals, dropout=self.dropout
        )

    def build(self, embedding_dim: int, num_heads: int) -> IntervalAttention:
        """Attention of one layer, which is given what the tables return.

        Raises:
            InputError: The width is no multiple of the heads.
        """
        return IntervalAttention(embedding_dim, num_heads, dropout=self.dropout, block=self.block)
