"""Step batch: all that one step learns from, in the parts in which it is computed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch.utils.data import DataLoader

from rota.training.dealt import DealtNegatives, moved, of_targets, pinned
from rota.training.losses.base import Loss
from rota.training.negatives.base import Negatives
from rota.training.negatives.drawn import DrawnNegatives
from rota.training.order import EpochOrder
from rota.training.recipe import Training
from rota.training.seeds import Purpose, stream
from rota.training.training_batch import TrainingBatch
from rota.training.windows import TrainingWindows

__all__: list[str] = []


@dataclass(frozen=True)
class Part:
    """A part of a step, computed at once.

    Attributes:
        number: Which part of the step, from 0.
        lesson: Its windows.
        drawn: Negatives of its targets; ``None`` where the loss draws none.
        counts: False where it only stands in, in a process for which the step has fewer windows: it brings
            the gradients of 0 that the others wait for.
    """

    number: int
    lesson: TrainingBatch
    drawn: DrawnNegatives | None
    counts: bool = True

    def to(self, device: torch.device | str) -> "Part":
        """Copy on another device, while the host goes on."""
        drawn = None if self.drawn is None else moved(self.drawn, device)
        return replace(self, lesson=self.lesson.to(device), drawn=drawn)

    def pin_memory(self) -> "Part":
        """Copy in memory from which a GPU fetches by itself."""
        drawn = None if self.drawn is None else pinned(self.drawn)
        return replace(self, lesson=self.lesson.pin_memory(), drawn=drawn)

    def loss(self, loss: Loss) -> Loss:
        """The loss, with these negatives."""
        if self.drawn is None:
            return loss
        dealt = DealtNegatives(self.drawn, loss.negatives.is_uniform)  # type: ignore[attr-defined]
        return replace(loss, negatives=dealt)  # type: ignore[type-var]


@dataclass(frozen=True)
class StepBatch:
    """What one step learns from, or what one process has of it.

    Attributes:
        epoch: From 0.
        step: In the epoch, from 0.
        parts: In order.
        targets: Number of targets of the whole step, over all processes.
    """

    epoch: int
    step: int
    parts: tuple[Part, ...]
    targets: int

    def pin_memory(self) -> "StepBatch":
        """Copy in memory from which a GPU fetches by itself."""
        return replace(self, parts=tuple(part.pin_memory() for part in self.parts))


class Syllabus:
    """Batches of all steps, each a function of (seed, epoch, step), whoever makes it and when.

    Attributes:
        steps: Of an epoch.
        targets_per_step: Mean over an epoch.
    """

    def __init__(
        self, windows: TrainingWindows, training: Training, seed: int, *, rank: int = 0, processes: int = 1
    ) -> None:
        self.windows, self.training, self.seed = windows, training, seed
        self.rank, self.processes = rank, processes
        self.order = EpochOrder(windows.lengths, training.batch_size, seed)
        self.steps = len(self.order)
        self.targets_per_step = int(windows.counts.sum()) / self.steps
        self.count = -(-training.accumulate // processes) * processes  # of parts: each process has as many

    def batches(self, epoch: int, first: int, *, pin: bool) -> Iterator[StepBatch]:
        """Those of an epoch.

        Args:
            epoch: From 0.
            first: Step to begin with, from 0.
            pin: Whether a GPU will fetch them.
        """
        self.order.set_epoch(epoch)
        ahead = [(epoch, step, indices) for step, indices in enumerate(self.order)][first:]
        workers = self.training.num_workers
        yield from DataLoader(
            ahead,  # type: ignore[arg-type]
            batch_size=None,
            collate_fn=self.collate,  # type: ignore[arg-type]
            num_workers=workers,
            pin_memory=pin,
            generator=torch.Generator(),  # else a seed would be drawn from the global stream
        )

    def collate(self, asked: tuple[int, int, list[int]]) -> StepBatch:
        """Batch of an epoch, a step, and the indices of its windows."""
        epoch, step, indices = asked
        parts = [indices[number :: self.count] for number in range(self.count)]  # like lengths in each
        numbers = [number for number, own in enumerate(parts) if own]
        lessons = [self.windows.collate(parts[number]) for number in numbers]
        places = self._places(indices)
        targets = torch.empty(sum(len(lesson.targets) for lesson in lessons), dtype=torch.int64)
        for number, lesson in zip(numbers, lessons, strict=True):
            targets[places[number]] = lesson.targets
        drawn = self._drawn(targets, epoch, step)
        found = [
            Part(number, lesson, None if drawn is None else of_targets(drawn, places[number]))
            for number, lesson in zip(numbers, lessons, strict=True)
        ]
        mine, most = found[self.rank :: self.processes], -(-len(found) // self.processes)
        mine += [replace(found[0], counts=False)] * (most - len(mine))
        return StepBatch(epoch, step, tuple(mine), len(targets))

    def _places(self, indices: list[int]) -> list[torch.Tensor]:
        """Where the targets of each part lie among those of the undivided step, in its order of windows."""
        sizes = self.windows.num_targets(indices)
        part = np.repeat(np.arange(len(indices)) % self.count, sizes)
        return [torch.from_numpy(np.flatnonzero(part == number)) for number in range(self.count)]

    def _drawn(self, targets: torch.Tensor, epoch: int, step: int) -> DrawnNegatives | None:
        negatives = getattr(self.training.loss, "negatives", None)
        if not isinstance(negatives, Negatives):
            return None
        generator = stream(self.seed, Purpose.NEGATIVES, epoch, step)
        many = self.training.loss.num_negatives  # type: ignore[attr-defined]
        return negatives.draw(many, targets, self.windows.histories.num_items, generator, self.windows.counts)
