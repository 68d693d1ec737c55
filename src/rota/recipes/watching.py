"""Watcher: whoever wants to know how far a comparison is."""

from abc import ABC, abstractmethod

from rota.evaluation.run import Run
from rota.recipes.plan import Plan
from rota.recipes.question import Question
from rota.training.progress import Fitted, Progress


class Watcher(ABC):
    """Told of every step; `Unwatched` tells no one, the command line shows a table.

    Of trainings in processes of their own it is told in the process that compares, and of their steps a few
    times a second.
    """

    @abstractmethod
    def begin(self, question: Question, plan: Plan, processes: int) -> None:
        """This is asked, and these trainings are ahead, so many of them at once."""

    @abstractmethod
    def found(self, run: Run, fitted: Fitted) -> None:
        """A training was done before, and is not done again."""

    @abstractmethod
    def start(self, arm: str, seed: int) -> None:
        """A training begins."""

    @abstractmethod
    def step(self, arm: str, seed: int, progress: Progress) -> None:
        """A step of it is done."""

    @abstractmethod
    def finish(self, run: Run, fitted: Fitted) -> None:
        """It is done, and so is its test."""

    @abstractmethod
    def fail(self, arm: str, seed: int, why: str) -> None:
        """It has failed; the others go on."""


class Unwatched(Watcher):
    """Tells no one."""

    def begin(self, question: Question, plan: Plan, processes: int) -> None:
        """Do nothing."""

    def found(self, run: Run, fitted: Fitted) -> None:
        """Do nothing."""

    def start(self, arm: str, seed: int) -> None:
        """Do nothing."""

    def step(self, arm: str, seed: int, progress: Progress) -> None:
        """Do nothing."""

    def finish(self, run: Run, fitted: Fitted) -> None:
        """Do nothing."""

    def fail(self, arm: str, seed: int, why: str) -> None:
        """Do nothing."""
