"""What a slice came to: a row for each bin."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rota.evaluation.significance import PairedDifference


@dataclass(frozen=True)
class SlicedRow:
    """Figures of one bin.

    Attributes:
        label: Its name.
        users: Users with a question in it; the means are over these.
        questions: Questions with a positive in it.
        positives: Positives in it.
        means: Mean over users by metric; NaN where there is no user.
        paired: Difference from the control by metric; ``None`` without a control, or under two users.
    """

    label: str
    users: int
    questions: int
    positives: int
    means: Mapping[str, float]
    paired: Mapping[str, PairedDifference] | None = None

    def to_json(self) -> dict[str, object]:
        """As it is written to a file; a mean that is not defined is ``None``."""
        return {
            "label": self.label,
            "users": self.users,
            "questions": self.questions,
            "positives": self.positives,
            "metrics": {name: None if math.isnan(mean) else mean for name, mean in self.means.items()},
            "paired": None
            if self.paired is None
            else {name: difference._asdict() for name, difference in self.paired.items()},
        }


@dataclass(frozen=True)
class Sliced:
    """Metrics of a run by the bins of a slice.

    Attributes:
        name: Name of the slice.
        metrics: Names of the metrics.
        rows: Bins, in their order.
        whole: All bins together.
    """

    name: str
    metrics: tuple[str, ...]
    rows: tuple[SlicedRow, ...]
    whole: SlicedRow

    def to_json(self) -> dict[str, object]:
        """As it is written to a file."""
        return {
            "slice": self.name,
            "bins": [row.to_json() for row in self.rows],
            "whole": self.whole.to_json(),
        }
