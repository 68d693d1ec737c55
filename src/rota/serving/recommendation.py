"""Recommendations: the best items of one request, and what they rest on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

from rota.choice import Choice

__all__ = ["Basis", "Recommendation", "Recommendations"]


class Basis(Choice):
    """What recommendations rest on.

    Attributes:
        MODEL: The trained model.
        POPULARITY: Counts of what everybody did in training: there is no history that the model could read.
    """

    MODEL = "model"
    POPULARITY = "popularity"


class Recommendation(NamedTuple):
    """An item and its score.

    Attributes:
        item: Id, as the log has it.
        score: Larger is better. Of a model: its logit, or with a repeat head its log-probability; of
            popularity: the number of events.
    """

    item: Any
    score: float


@dataclass(frozen=True)
class Recommendations(Sequence[Recommendation]):
    """The best items of one request, best first.

    Attributes:
        best: The items; equal scores are in the order of the ids.
        basis: What they rest on.
        unknown: Items of the history that the catalogue does not have, in their order, each once; skipped.
        untrained: Items of the history that are in the catalogue and that training never met, likewise. The
            model reads them, as it does when it is evaluated, and knows nothing of them.
    """

    best: tuple[Recommendation, ...]
    basis: Basis
    unknown: tuple[Any, ...] = ()
    untrained: tuple[Any, ...] = ()

    @property
    def items(self) -> list[Any]:
        """Ids alone."""
        return [item for item, _ in self.best]

    def naming(self, unknown: tuple[Any, ...], untrained: tuple[Any, ...]) -> "Recommendations":
        """The same, with the items of the history that the model knows nothing of."""
        return Recommendations(self.best, self.basis, unknown, untrained)

    def to_json(self) -> dict[str, object]:
        """As it is written to a file; ids that JSON has no type for, such as dates, become text."""
        return {
            "basis": self.basis.value,
            "best": [{"item": _plain(item), "score": score} for item, score in self.best],
            "unknown": [_plain(item) for item in self.unknown],
            "untrained": [_plain(item) for item in self.untrained],
        }

    def __len__(self) -> int:
        return len(self.best)

    def __iter__(self) -> Iterator[Recommendation]:
        return iter(self.best)

    @overload
    def __getitem__(self, place: int) -> Recommendation: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Recommendation, ...]: ...
    def __getitem__(self, place: int | slice) -> Recommendation | tuple[Recommendation, ...]:
        return self.best[place]


def _plain(item: object) -> object:
    return item if isinstance(item, int | str) else str(item)
