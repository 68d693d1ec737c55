"""The order of an epoch: which windows make a batch, and when."""

from collections.abc import Iterator

import numpy as np
from torch.utils.data import Sampler

from rota.training.seeds import Purpose, stream_seed
from rota.types import Int64Array


class EpochOrder(Sampler[list[int]]):
    """Batches of windows in an order that is a function of (seed, epoch); like lengths lie together.

    Windows are shuffled, sorted by length within runs of several batches, and the batches shuffled again.
    """

    _RUN = 16  # batches: long enough for little padding, short enough for fresh company each epoch

    def __init__(self, lengths: Int64Array, batch_size: int, seed: int) -> None:
        self.lengths, self.batch_size, self.seed, self.epoch = lengths, batch_size, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order comes next."""
        self.epoch = epoch

    def __len__(self) -> int:
        return -(-len(self.lengths) // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        rng = np.random.default_rng(stream_seed(self.seed, Purpose.ORDER, self.epoch))
        shuffled = rng.permutation(len(self.lengths))
        run = self._RUN * self.batch_size
        ordered = np.concatenate(
            [
                part[np.argsort(self.lengths[part], kind="stable")]
                for part in np.split(shuffled, range(run, len(shuffled), run))
            ]
        )
        batches = np.split(ordered, range(self.batch_size, len(ordered), self.batch_size))
        for at in rng.permutation(len(batches)):
            yield batches[at].tolist()
