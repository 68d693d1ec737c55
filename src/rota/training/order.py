"""The order of an epoch: which windows make a batch, and when."""

from collections.abc import Iterator

import numpy as np
from torch.utils.data import Sampler

from rota.training.seeds import Purpose, stream_seed
from rota.types import Int64Array

_REAL = 0.935  # share of the positions that hold an event, by quantiles; small batches reach some .03 less


class EpochOrder(Sampler[list[int]]):
    """Batches of windows in an order that is a function of (seed, epoch); like lengths lie together.

    Windows are shuffled, sorted by length within runs of several batches, and the batches shuffled again. A
    run is no longer than padding demands: the longer it is, the more alike are the windows of a batch.

    Attributes:
        run: Batches of a run; 1 where windows are so alike that nothing need be sorted.
    """

    def __init__(self, lengths: Int64Array, batch_size: int, seed: int) -> None:
        self.lengths, self.batch_size, self.seed, self.epoch = lengths, batch_size, seed, 0
        self.run = _shortest_run(lengths, len(self))

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order comes next."""
        self.epoch = epoch

    def __len__(self) -> int:
        return -(-len(self.lengths) // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        rng = np.random.default_rng(stream_seed(self.seed, Purpose.ORDER, self.epoch))
        ordered = rng.permutation(len(self.lengths))
        if self.run > 1:
            run = self.run * self.batch_size
            parts = np.split(ordered, range(run, len(ordered), run))
            ordered = np.concatenate([part[np.argsort(self.lengths[part], kind="stable")] for part in parts])
        batches = np.split(ordered, range(self.batch_size, len(ordered), self.batch_size))
        for at in rng.permutation(len(batches)):
            yield batches[at].tolist()


def _shortest_run(lengths: Int64Array, batches: int) -> int:
    """Batches of the shortest run with so little padding as wanted, within a fourth; all, if none has.

    The batches of a run of ``n`` are about the ``n`` quantiles of all lengths.
    """
    ordered, run = np.sort(lengths), 1
    while run < batches:
        parts = np.array_split(ordered, run)
        if ordered.sum() >= _REAL * sum(len(part) * int(part[-1]) for part in parts if len(part)):
            return run
        run += max(1, run // 4)
    return batches
