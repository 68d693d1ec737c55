"""Answering: what a scorer says of a question, and the rank of a target in it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from rota.batch import Batch
from rota.errors import InputError
from rota.evaluation.ranking import rank
from rota.evaluation.seen import SeenPairs
from rota.models.base import Scorer
from rota.types import Int64Array

__all__: list[str] = []


class Answering(ABC):
    """Asks a scorer, and ranks by what it answers."""

    @abstractmethod
    def answers(self, batch: Batch) -> Float[Tensor, "batch answer"]:
        """What the ranks of each question are made of.

        Raises:
            InputError: As `Scorer.scores`.
        """

    @abstractmethod
    def ranks(
        self, answers: Float[Tensor, "rows answer"], targets: Int64Array, seen: SeenPairs | None
    ) -> Int64[Tensor, " rows"]:
        """Rank the target of each row, as `rota.evaluation.rank` defines it.

        Args:
            answers: One or more of those that were given.
            targets: Item of each row, shape ``(rows,)``.
            seen: Items that are no candidates; ``None`` where all are.

        Returns:
            Ranks; 0 where the target is no candidate.

        Raises:
            InputError: A score is NaN, or a target is outside the catalogue.
        """


@dataclass(frozen=True)
class Whole(Answering):
    """Any scorer: it answers with the scores of all items.

    Attributes:
        scorer: The scorer.
        num_items: Size of the catalogue.
    """

    scorer: Scorer
    num_items: int

    def answers(self, batch: Batch) -> Float[Tensor, "batch items"]:
        """Scores of all items.

        Raises:
            InputError: They are of another catalogue, or as `Scorer.scores`.
        """
        scores = self.scorer.scores(batch)
        require_catalogue(self.scorer, scores.shape[-1], self.num_items)
        return scores

    def ranks(
        self, answers: Float[Tensor, "rows items"], targets: Int64Array, seen: SeenPairs | None
    ) -> Int64[Tensor, " rows"]:
        """Rank by all scores; arguments and errors as above."""
        codes = torch.from_numpy(targets).to(answers.device)
        ranks = rank(answers, codes)
        if seen is None:
            return ranks
        rows, items = (torch.from_numpy(column).to(answers.device) for column in seen)
        bars = answers.gather(1, codes[:, None])[:, 0]
        return seen.left_out(ranks, answers[rows, items], bars, targets)


def require_catalogue(scorer: Scorer, scored: int, num_items: int) -> None:
    """Refuse a scorer of another catalogue.

    Args:
        scorer: The scorer.
        scored: Items that it scores.
        num_items: Items that there are.

    Raises:
        InputError: It is.
    """
    if scored != num_items:
        raise InputError(
            f"{type(scorer).__name__} scores {scored} items: expected the whole catalogue of "
            f"{num_items}; use the model with the log it was made for"
        )
