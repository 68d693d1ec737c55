"""Question: a log made ready to be asked about."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rota.analysis.law_fit import LawFit
from rota.data.log import Log
from rota.data.splits.base import Splitter
from rota.data.splits.leave_last import LeaveLast
from rota.errors import InputError
from rota.evaluation.positives import Positives
from rota.histories import Histories, Stages, flat_rows

__all__ = ["Question", "ask_of"]

MIN_EVENTS = 5


@dataclass(frozen=True)
class Question:
    """Who is asked what.

    Attributes:
        log: Events of the users who are asked, or learnt from.
        histories: The same, flat; memory-mapped where a prepared dataset holds them.
        stages: What training, validation and test may see.
        law: Measured on the events of training, where an arm asks for it.
    """

    log: Log
    histories: Histories
    stages: Stages
    law: LawFit | None = None

    @property
    def positives(self) -> Positives:
        """The events that the test asks for, a set for each question."""
        return Positives.of(self.histories, self.stages.test)

    @property
    def users(self) -> pa.Array:
        """Id of the user of each question of the test, as the log has them."""
        return self.log.user_ids.take(pa.array(self.stages.test.users))

    @property
    def targets(self) -> pa.Array:
        """Ids of the items that the test asks for, question by question."""
        return self.log.item_ids.take(pa.array(self.histories.items[self.positives.rows]))

    def describe(self) -> list[tuple[str, str]]:
        """Whom is asked what, as labels and values."""
        train, test = self.stages.train, self.stages.test
        learnt = np.zeros(self.histories.num_items, np.bool_)
        learnt[self.histories.items[flat_rows(train.starts, train.stops)]] = True
        positives = self.positives.rows
        new = int((~learnt[self.histories.items[positives]]).sum())
        users, questions = len(np.unique(test.users)), len(test.users)
        counts = [f"{users:,} users with {MIN_EVENTS} events or more"]
        if questions > users:
            counts.append(f"{questions:,} questions")
        if len(positives) > questions:
            counts.append(f"{len(positives):,} targets")
        said = [
            ("asked", f"{', '.join(counts)}, {self.stages.name}"),
            (
                "ranked",
                f"{self.histories.num_items:,} items; {new:,} targets are items that training never met",
            ),
        ]
        return said if self.law is None else [*said, ("law", self.law.in_words)]

    def facts(self) -> dict[str, object]:
        """What results say of the data."""
        log = self.log
        return {
            "name": log.name,
            "rows": log.about.rows,
            "events": len(log),
            "users": log.num_users,
            "items": log.num_items,
            "ties": log.ties,
            "ties_rule": log.about.ties.value,
            "unit": log.unit,
            "zone": log.zone,
            "fingerprint": log.fingerprint,
        } | ({} if self.law is None else {"law": dict(self.law.facts())})


def ask_of(log: Log, split: Splitter | None = None) -> Question:
    """Keep users with five events or more whom the split can ask, and split.

    Args:
        log: Events; see `read_log` and `load_dataset`.
        split: Who is asked what; by default leave-one-out.

    Raises:
        InputError: Fewer than two users have enough events, or the split does not fit the log.
    """
    split = split or LeaveLast()
    kept = log.with_least(MIN_EVENTS)
    enough = np.flatnonzero(split.askable(kept))
    if len(enough) < 2:
        found = "one user has" if len(enough) else "no user has"
        raise InputError(
            f"{log.name}: {found} {MIN_EVENTS} events or more, and as many as {split.name} needs; expected "
            "at least two to compare over"
        )
    kept = kept if len(enough) == kept.num_users else kept.of_users(enough)
    return Question(kept, kept.histories(), split.stages(kept))
