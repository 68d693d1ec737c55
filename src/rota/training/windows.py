"""Training windows: histories cut so that every target is learnt from once an epoch."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor
from torch.utils.data import Dataset, Sampler

from rota.batch import Batch, TimeAccess, Window, collate
from rota.errors import InputError
from rota.histories import Histories, Spans
from rota.training.seeds import Purpose, stream_seed
from rota.types import Int64Array


@dataclass(frozen=True)
class TrainingBatch:
    """A batch and what it should have predicted.

    Attributes:
        batch: Inputs.
        targets: Item after each position, shape ``(batch, length)``; padding is told by ``batch.mask``.
    """

    batch: Batch
    targets: Int64[Tensor, "batch length"]


class TrainingWindows(Dataset[int]):
    """Windows of at most ``max_len`` inputs over the spans of the training stage.

    A span of ``n`` events has ``n - 1`` targets. Windows are cut from its end, so that all but the first are
    full; no target is lost and none is repeated. The query of each position stands at its target's time,
    which lies within the span.

    Attributes:
        starts: First input row of each window.
        lengths: Inputs of each window.
    """

    def __init__(self, histories: Histories, spans: Spans, max_len: int, access: TimeAccess | str) -> None:
        self.histories, self.access = histories, TimeAccess.parse(access)
        cuts = [
            (max(int(start), end - max_len), end)
            for start, stop in zip(spans.starts, spans.stops, strict=True)
            for end in range(int(stop) - 1, int(start), -max_len)
        ]
        if not cuts:
            raise InputError("no training target: every history has under two events; lower the filters")
        self.starts = np.array([start for start, _ in cuts], np.int64)
        self.lengths = np.array([end - start for start, end in cuts], np.int64)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> int:
        return index

    def collate(self, indices: list[int]) -> TrainingBatch:
        """Batch of the windows with these indices."""
        cuts = [slice(int(self.starts[i]), int(self.starts[i] + self.lengths[i])) for i in indices]
        after = [slice(cut.start + 1, cut.stop + 1) for cut in cuts]
        items, times = self.histories.items, self.histories.times
        batch = collate(
            [Window(items[cut], times[cut], times[nxt]) for cut, nxt in zip(cuts, after, strict=True)],
            self.access,
        )
        targets = torch.zeros_like(batch.items)
        for row, nxt in zip(targets, after, strict=True):
            row[: nxt.stop - nxt.start] = torch.from_numpy(np.array(items[nxt]))
        return TrainingBatch(batch, targets)


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
