"""Scorer: what evaluation and serving ask of any model, trained or not."""

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor

from rota.batch import Batch


class Scorer(ABC):
    """Scores the whole catalogue for the next event of each row.

    Attributes:
        max_len: Most recent events that it looks at; ``None`` for all.
        needs_clock: It cannot answer without times.
    """

    max_len: int | None
    needs_clock: bool

    @abstractmethod
    def scores(self, batch: Batch) -> Float[Tensor, "batch items"]:
        """Score of every item as the event after each row's last, larger is better.

        Raises:
            InputError: It needs a clock and the batch has none.
        """
