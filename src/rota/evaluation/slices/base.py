"""Slice: the positives of a stage in a few bins, whose figures are looked at apart."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rota.evaluation.positives import Positives
from rota.histories import Histories, Spans
from rota.tables import Recipe
from rota.types import Int64Array

__all__ = ["Slice"]


@dataclass(frozen=True)
class Slice(Recipe, ABC):
    """Puts each positive of a stage in one bin.

    Positives are binned, not questions: of a set of positives, some may be returns and some new. Within a bin
    a question is asked about those of its positives that are there, and is not asked where there is none.
    What goes by the question (its time, its history) puts all its positives in one bin.

    Attributes:
        name: Name of the file that defines it.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the bins, in the order to show."""

    @abstractmethod
    def bins(self, histories: Histories, spans: Spans, positives: Positives) -> Int64Array:
        """Bin of each positive, an index into `labels`; shape ``(positives,)``.

        Args:
            histories: All events.
            spans: Stage that was asked.
            positives: Its positives.
        """


def of_questions(values: Int64Array, positives: Positives) -> Int64Array:
    """What holds for each question, shape ``(questions,)``, for each positive, shape ``(positives,)``."""
    return np.repeat(values, np.diff(positives.offsets))
