"""Run: the ranks of one arm, trained once."""

from dataclasses import dataclass

import numpy as np

from rota.types import Int64Array


@dataclass(frozen=True, eq=False)
class Run:
    """One arm, trained once.

    Attributes:
        arm: Its name.
        seed: Seed of the training; ``None`` for an untrained model.
        ranks: Rank of each target, 0 where it was no candidate; shape ``(targets,)``, made read-only.
        validation: Score of the validation after each epoch, larger is better; the best was kept. Empty for
            an untrained model.
    """

    arm: str
    seed: int | None
    ranks: Int64Array
    validation: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        ranks = np.array(self.ranks, dtype=np.int64)
        ranks.setflags(write=False)
        object.__setattr__(self, "ranks", ranks)
