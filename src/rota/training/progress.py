"""Progress: where a training is, and what it left."""

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class Progress:
    """Where training is, after a step.

    Attributes:
        epoch: From 0.
        step: Steps done in this epoch.
        steps: Steps of an epoch.
        loss: Mean over the targets of the step; read it rarely, it may wait for the device.
        validation: Scores of the epochs done, in order.
        targets: Number of targets of the step, over all processes.
    """

    epoch: int
    step: int
    steps: int
    loss: Tensor
    validation: tuple[float, ...]
    targets: int = 0


@dataclass(frozen=True)
class EpochRecord:
    """What an epoch came to.

    Attributes:
        epoch: From 0.
        steps: Steps done since the training began.
        loss: Mean over the targets of the epoch.
        learning_rate: Of its last step.
        validation: Score after it.
        targets_per_second: Targets learnt from, of that part of the epoch that was not interrupted.
    """

    epoch: int
    steps: int
    loss: float
    learning_rate: float
    validation: float
    targets_per_second: float


@dataclass(frozen=True)
class Fitted:
    """What training left.

    Attributes:
        validation: Score of each epoch, larger is better.
        best_epoch: The epoch whose weights the network holds now, from 0.
        records: More of each epoch; two trainings that differ only in these have left the same.
    """

    validation: tuple[float, ...]
    best_epoch: int
    records: tuple[EpochRecord, ...] = field(default=(), compare=False)
