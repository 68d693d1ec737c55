"""Training batch: inputs, and what they should have predicted."""

from dataclasses import dataclass

import torch
from jaxtyping import Int64
from torch import Tensor

from rota.batch import Batch


@dataclass(frozen=True)
class TrainingBatch:
    """A batch and what it should have predicted.

    Attributes:
        batch: Inputs.
        asked: Position that should have predicted each target, an index into the positions of all rows laid
            end to end; shape ``(targets,)``. Every event with another after it, once, where ties have an
            order; where they have none, the last event of an instant, once for each event of the next.
        targets: Item of each target, shape ``(targets,)``.
    """

    batch: Batch
    asked: Int64[Tensor, " targets"]
    targets: Int64[Tensor, " targets"]

    def to(self, device: torch.device | str) -> "TrainingBatch":
        """Copy on another device."""
        asked, targets = (tensor.to(device, non_blocking=True) for tensor in (self.asked, self.targets))
        return TrainingBatch(self.batch.to(device), asked, targets)

    def pin_memory(self) -> "TrainingBatch":
        """Copy in memory from which a GPU fetches by itself, while the host goes on."""
        plain = self.batch
        key_time = None if plain.key_time is None else plain.key_time.pin_memory()
        query_time = key_time  # one tensor where it was one
        if plain.query_time is not None and plain.query_time is not plain.key_time:
            query_time = plain.query_time.pin_memory()
        batch = Batch(plain.items.pin_memory(), key_time, query_time, plain.lengths.pin_memory())
        return TrainingBatch(batch, self.asked.pin_memory(), self.targets.pin_memory())
