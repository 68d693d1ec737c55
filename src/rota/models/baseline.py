"""Baseline: a model that is counted, not trained, and stands beside every trained one."""

from abc import ABC, abstractmethod
from typing import ClassVar

from rota.histories import Histories, Spans
from rota.models.base import Scorer


class Baseline(Scorer, ABC):
    """A scorer that needs no training.

    A file of this room that defines one is in every comparison: recipes find it here.

    Attributes:
        personal: It goes by the user's own history, which each question shows; otherwise by what everybody
            does, which it counted beforehand.
    """

    personal: ClassVar[bool]

    @classmethod
    @abstractmethod
    def fitted(cls, histories: Histories, counted: Spans) -> "Baseline":
        """Fit it on what a stage may see, with the defaults of its other parameters.

        Args:
            histories: All events; of them it takes the size of the catalogue, the unit, and the rows that are
                counted, no other.
            counted: Events of everybody that it may count: rows ``start`` up to ``stop`` of each span, as
                `Stages.counted` has them.

        Raises:
            InputError: The events do not fit the catalogue.
        """
