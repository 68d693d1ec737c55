"""Question: a log made ready to be asked about."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from rota.data.filters.min_events import MinEvents
from rota.data.log import Log
from rota.data.sequences import load_sequences, save_sequences
from rota.data.splits.leave_one_out import LeaveOneOut
from rota.errors import InputError
from rota.histories import Histories, Stages

__all__ = ["Question", "ask_of"]

MIN_EVENTS = 5


@dataclass(frozen=True)
class Question:
    """Who is asked what.

    Attributes:
        log: Events of the users who are asked.
        histories: The same, flat; memory-mapped where a folder holds them.
        stages: What training, validation and test may see.
    """

    log: Log
    histories: Histories
    stages: Stages

    @property
    def users(self) -> pa.Array:
        """Ids of the users of the test, as the log has them."""
        return self.log.user_ids.take(pa.array(self.stages.test.users))

    @property
    def targets(self) -> pa.Array:
        """Ids of the items that the test asks for."""
        return self.log.item_ids.take(pa.array(self.histories.items[self.stages.test.stops]))

    def describe(self) -> list[tuple[str, str]]:
        """Whom is asked what, as labels and values."""
        train, test = self.stages.train, self.stages.test
        learnt = np.zeros(self.histories.num_items, np.bool_)
        for start, stop in zip(train.starts, train.stops, strict=True):
            learnt[self.histories.items[start:stop]] = True
        new = int((~learnt[self.histories.items[test.stops]]).sum())
        return [
            ("asked", f"{len(test.users):,} users with {MIN_EVENTS} events or more, {self.stages.name}"),
            (
                "ranked",
                f"{self.histories.num_items:,} items; {new:,} targets are items that training never met",
            ),
        ]

    def facts(self) -> dict[str, object]:
        """What results say of the data."""
        log = self.log
        return {
            "name": log.name,
            "rows": log.rows,
            "events": len(log),
            "users": log.num_users,
            "items": log.num_items,
            "ties": log.ties,
            "unit": log.unit,
            "zone": log.zone,
            "fingerprint": log.fingerprint,
        }


def ask_of(log: Log, folder: Path | None = None) -> Question:
    """Keep users with five events or more, and split them leave-one-out.

    Args:
        log: Events; see `read_log`.
        folder: Where to keep the sequences, memory-mapped; in memory without.

    Raises:
        InputError: Fewer than two users have enough events.
    """
    kept = MinEvents(MIN_EVENTS).apply(log)
    if kept.num_users < 2:
        raise InputError(
            f"{log.name}: one user has {MIN_EVENTS} events or more; expected at least two to compare over"
        )
    histories = kept.histories()
    if folder is not None:
        save_sequences(histories, folder)
        histories = load_sequences(folder)
    stages = LeaveOneOut().stages(histories, kept.user_ids, kept.item_ids)
    return Question(kept, histories, stages)
